"""Closed lists of English words that rules look at."""

from __future__ import annotations

__all__ = [
    "ALSO_NOUNS",
    "ARTICLES",
    "DETERMINERS",
    "FUNCTION_WORDS",
    "HEADS",
    "POLICY_NOUNS",
    "SCAFFOLD",
    "VERBS",
]

FUNCTION_WORDS = frozenset(
    "a about above across after against all along also although am among an and any are"
    " aren't as at be because been before being below between both but by can can't"
    " cannot could couldn't did didn't do does doesn't doing don't down during each"
    " either else ever every few for from had has hasn't have haven't having he her here"
    " hers him his how i if in into is isn't it its itself just let's many may me might"
    " more most much must my near neither no nor not now of off on once one only onto or"
    " other our out over own per please rather same shall she should shouldn't since so"
    " some still such than that the their theirs them then there there's these they this"
    " those through thus to too toward towards under until up upon us very was wasn't we"
    " were weren't what what's when where whether which while who who's whom whose why"
    " will with within without won't would wouldn't yet you your".split()
)

#: Words of a question's scaffolding: never part of what it is about.
SCAFFOLD = frozenset(
    "argument arguments case cases debate effect effects evidence fact facts impact"
    " impacts issue issues opinion opinions people people's question questions reason"
    " reasons report reports research say says science scientists economists experts"
    " studies study thing things view views way ways americans anyone anybody someone"
    " everyone today years year ever really actually likely best worst latest main".split()
)

_BASES = (
    "accept admit affect agree allow apply approve argue ask attack avoid ban become"
    " begin believe benefit blame block bring build buy call cause change choose claim"
    " close come compare consider continue contribute cost cover create cut deal debate"
    " decide defend deny deserve destroy differ divide do drive drop earn eliminate"
    " encourage end enforce exist expand expect explain face fail fall favor feel fight"
    " find fix follow force gain get give go grow gut happen harm have help hit hurt"
    " ignore impact improve include increase influence justify keep kill know lead leave"
    " let limit live look lose lower make matter mean meet move need offer oppose pass"
    " pay play plan prevent produce promote propose protect prove provide push put raise"
    " ram reach read reduce reflect reject remain remove repeal replace require respond"
    " restrict reverse rise rule run save see seek seem sell send serve shape shift show"
    " shrink slash slow solve speak spend spread start stay stop strengthen struggle"
    " suffer suggest support survive take talk tell think threaten treat try turn"
    " undermine use violate vote want weaken win work worry worsen write accuse warn fire"
    " rescind poise hold detect condemn unveil slam blast vow urge sue weigh mull launch"
    " announce skirt demand refuse require target own lock override spare".split()
)


def _forms(base: str) -> list[str]:
    if base.endswith("e"):
        return [base, base + "s", base + "d", base[:-1] + "ing"]
    if base.endswith("y") and base[-2] not in "aeiou":
        return [base, base[:-1] + "ies", base[:-1] + "ied", base + "ing"]
    if base.endswith(("s", "sh", "ch", "x", "o")):
        return [base, base + "es", base + "ed", base + "ing"]
    forms = [base, base + "s", base + "ed", base + "ing"]
    if (
        len(base) <= 4
        and base[-1] not in "aeiouwyx"
        and base[-2] in "aeiou"
        and base[-3:-2] not in "aeiou"
    ):
        forms += [base + base[-1] + "ed", base + base[-1] + "ing"]
    return forms


_IRREGULAR = (
    "became began brought built bought came chose chosen dealt did done drove driven"
    " fell felt fought found gave given gone got grew grown kept knew known led left lost"
    " made meant met paid proved said saw seen sent shown sold spent spoke stood taken"
    " told thought took went won wrote written been goes does has had".split()
)

#: Verbs that end a noun phrase unless a lexicon term holds them.
VERBS = frozenset(form for base in _BASES for form in _forms(base)) | frozenset(_IRREGULAR)

#: Verbs that are as often nouns: in a label of a few words they are taken for nouns.
ALSO_NOUNS = frozenset(
    "attack ban benefit blame build cause change claim cost cover cut deal debate drive"
    " drop end fall favor fight fix force gain gut harm help hit hurt impact increase"
    " influence limit look move need offer pay plan play promise push raise reach rise"
    " run shape shift show spread start stop struggle support talk treat turn use vote"
    " work worry benefits costs cuts deals limits plans votes works bans rule rules"
    " changes claims increases attacks spending funding meeting running".split()
)

#: Nouns of law-making: what an evaluative adjective before them judges is a policy.
POLICY_NOUNS = frozenset(
    "act agenda agendas amendment amendments ban bans bill bills budget budgets cut cuts"
    " deal deals decision decisions initiative initiatives law laws legislation mandate"
    " mandates measure measures order orders plan plans policies policy program programs"
    " proposal proposals reform reforms regulation regulations restriction restrictions"
    " rule rules ruling rulings spending subsidies subsidy tariff tariffs tax taxes"
    " treaty treaties welfare medicaid medicare benefits funding economy jobs wages"
    " schools protections".split()
)

#: Nouns a term may modify: *amnesty bill*. There it takes no article of its own and a singular.
HEADS = frozenset(
    "act activist activists advocate advocates agenda amendment attorney ban bans bill"
    " bills budget case cases clinic clinics community communities crackdown crisis cut"
    " cuts deal deals debate enrollees fight groups issue issues law laws lawsuit lobby"
    " mandate market measure measures money movement opponents order plan plans policy"
    " policies population populations program programs proposal proposals push question"
    " rate rates reform reforms regulations repeal reporting rule rules ruling rulings"
    " showdown status supporter supporters system talks tax vote website expansion owners"
    " owner sales sale manufacturers makers critics foes backers leaders repeal-and-"
    " replace exchange exchanges subsidies premiums enrollment students workers children"
    " families parents youth".split()
)

ARTICLES = frozenset({"a", "an", "the"})
DETERMINERS = frozenset(
    "this these that those my your his her its our their some any no each every all both"
    " many few several more most other another such what which whose one two three".split()
)
