"""The rules, by feature. A rule reads one parsed segment and proposes or refuses.

No rule sees what another rule made of the text, so their order cannot matter; `FEATURES`
says which of two candidates wins where they want the same words.
"""

from __future__ import annotations

from biasret.signals.dialect.rules import (
    agreement,
    aint,
    clauses,
    concord,
    copula,
    future,
    nominal,
    perfect,
    questions,
    spelling,
)
from biasret.signals.dialect.view import Rule

__all__ = ["RULES"]

#: Features that one rule decides among share it; the engine runs each rule once.
RULES: dict[str, Rule] = {
    "zero_aux_gonna": copula.zero_be,
    "zero_aux_prog": copula.zero_be,
    "zero_copula_adj": copula.zero_be,
    "zero_copula_loc": copula.zero_be,
    "zero_copula_np": copula.zero_be,
    "habitual_be": copula.habitual_be,
    "aint_be": aint.aint_be,
    "aint_have": aint.aint_have,
    "aint_did": aint.aint_did,
    "invariant_dont": aint.invariant_dont,
    "negative_concord": concord.negative_concord,
    "negative_inversion": concord.negative_inversion,
    "exist_it": perfect.exist_it,
    "exist_theres": perfect.exist_theres,
    "future_gon": future.future_gon,
    "finna": future.finna,
    "completive_done": perfect.completive_done,
    "been_perfect": perfect.been_perfect,
    "participle_leveling": perfect.participle_leveling,
    "third_sg_zero": agreement.third_sg_zero,
    "was_leveling": agreement.was_leveling,
    "cond_was": agreement.cond_was,
    "possessive_s_zero": nominal.possessive_s_zero,
    "them_demonstrative": nominal.them_demonstrative,
    "they_possessive": nominal.they_possessive,
    "yall": nominal.yall,
    "reflexive_regular": nominal.reflexive_regular,
    "personal_dative": nominal.personal_dative,
    "me_coordinate": nominal.me_coordinate,
    "double_comparative": clauses.double_comparative,
    "degree_adv_flat": clauses.degree_adv_flat,
    "manner_adv_flat": clauses.manner_adv_flat,
    "zero_aux_yn": questions.zero_aux_yn,
    "zero_aux_wh": questions.zero_aux_wh,
    "embedded_inversion": questions.embedded_inversion,
    "zero_subj_relative": clauses.zero_subj_relative,
    "than_what": clauses.than_what,
    "where_at": questions.where_at,
    "a_before_vowel": nominal.a_before_vowel,
    "subject_doubling": clauses.subject_doubling,
    "g_drop": spelling.g_drop,
    "th_stop": spelling.th_stop,
    "th_final": spelling.th_final,
    "r_less": spelling.r_less,
    "cluster_red": spelling.cluster_red,
    "reduction": spelling.reduction,
    "informal_digital": spelling.informal_digital,
}
