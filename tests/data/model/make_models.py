#!/usr/bin/env python3
"""Writes the tiny models of this folder: made-up weights in every layout that the reader knows.

  make_models.py            writes the model folders (standard library only)
  make_models.py --expected also writes NAME.expected.json by sentence-transformers

The weights come from a seeded generator and mean nothing; the models exist to be read.
"""
import array
import json
import os
import random
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
OLD = "sentence_transformers.models."
TEXTS = ["", "the cat sat on the mat", "The Cat", "dogs run fast, and cats sleep!", "unknownword",
         "a", "the the the the the the the the the the the the the the the the the the the the "
         "the the the the the the the the the the the the the the the the the the the the"]


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)


def write_json(path, value):
    write(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def half_bits(value):
    return struct.unpack("<H", struct.pack("<e", value))[0]


def bfloat_bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0] >> 16


def encode(values, dtype):
    if dtype == "F32":
        return array.array("f", values).tobytes()
    if dtype == "I8":
        return array.array("b", [int(round(v * 100)) for v in values]).tobytes()
    if dtype == "F64":
        return array.array("d", values).tobytes()
    if dtype == "I32":
        return array.array("i", values).tobytes()
    convert = half_bits if dtype == "F16" else bfloat_bits
    return array.array("H", [convert(v) for v in values]).tobytes()


def write_tensors(path, tensors):
    """tensors: name -> (dtype, shape, values)"""
    header, buffer = {"__metadata__": {"format": "pt"}}, b""
    for name, (dtype, shape, values) in tensors.items():
        data = encode(values, dtype)
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [len(buffer), len(buffer) + len(data)]}
        buffer += data
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + buffer)


WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "dog", "sat", "on", "mat",
         "run", "fast", "and", "sleep", "a", "##s", "##er", "!", ",", ".", "?", "query", ":",
         "passage", "c", "d", "##a", "##t", "##o", "##g"]


def wordpiece():
    special = lambda i: {"id": i, "content": WORDS[i], "single_word": False, "lstrip": False,
                         "rstrip": False, "normalized": False, "special": True}
    token = lambda t: {"SpecialToken": {"id": t, "type_id": 0}}
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [special(i) for i in range(5)],
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                       "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [token("[CLS]"), {"Sequence": {"id": "A", "type_id": 0}}, token("[SEP]")],
            "pair": [token("[CLS]"), {"Sequence": {"id": "A", "type_id": 0}}, token("[SEP]"),
                     {"Sequence": {"id": "B", "type_id": 1}},
                     {"SpecialToken": {"id": "[SEP]", "type_id": 1}}],
            "special_tokens": {t: {"id": t, "ids": [WORDS.index(t)], "tokens": [t]}
                               for t in ("[CLS]", "[SEP]")}},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100,
                  "vocab": {w: i for i, w in enumerate(WORDS)}}}


PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁the", "▁cat", "▁dog", "▁", "s", "▁sat", "▁on", "▁mat",
          "▁run", "▁fast", "▁and", "▁sleep", "▁a", "!", ",", "t", "h", "e", "c", "a", "d", "o", "g",
          "n", "w", "r", "T", "C", "<mask>"]


def unigram():
    special = lambda i: {"id": i, "content": PIECES[i], "single_word": False, "lstrip": False,
                         "rstrip": False, "normalized": False, "special": True}
    token = lambda t: {"SpecialToken": {"id": t, "type_id": 0}}
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [special(i) for i in (0, 1, 2, 3, 32)],
        "normalizer": None,
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always",
                          "split": True},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [token("<s>"), {"Sequence": {"id": "A", "type_id": 0}}, token("</s>")],
            "pair": [token("<s>"), {"Sequence": {"id": "A", "type_id": 0}}, token("</s>"),
                     token("</s>"), {"Sequence": {"id": "B", "type_id": 0}}, token("</s>")],
            "special_tokens": {t: {"id": t, "ids": [PIECES.index(t)], "tokens": [t]}
                               for t in ("<s>", "</s>")}},
        "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always",
                    "split": True},
        "model": {"type": "Unigram", "unk_id": 3, "byte_fallback": False,
                  "vocab": [[p, 0.0 if i < 4 else -2.0 - i * 0.11]
                            for i, p in enumerate(PIECES)]}}


def tokenizer_files(folder, kind, tokens_max):
    write_json(os.path.join(folder, "tokenizer.json"),
               wordpiece() if kind == "wordpiece" else unigram())
    names = (("[UNK]", "[PAD]", "[CLS]", "[SEP]", "[MASK]") if kind == "wordpiece" else
             ("<unk>", "<pad>", "<s>", "</s>", "<mask>"))
    config = dict(zip(("unk_token", "pad_token", "cls_token", "sep_token", "mask_token"), names))
    config.update({"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": tokens_max})
    write_json(os.path.join(folder, "tokenizer_config.json"), config)


class Weights:
    def __init__(self, seed, dtype="F32"):
        self.random, self.dtype, self.tensors = random.Random(seed), dtype, {}

    def add(self, name, *shape, low=-0.5, high=0.5):
        count = 1
        for length in shape:
            count *= length
        values = [self.random.uniform(low, high) for _ in range(count)]
        self.tensors[name] = (self.dtype, list(shape), values)

    def linear(self, name, inner, outer):
        self.add(name + ".weight", outer, inner)
        self.add(name + ".bias", outer, low=-0.1, high=0.1)

    def norm(self, name, width):
        self.add(name + ".weight", width, low=0.8, high=1.2)
        self.add(name + ".bias", width, low=-0.1, high=0.1)


HIDDEN, HEADS, INNER, LAYERS, POSITIONS = 16, 2, 24, 2, 34


def bert(folder, family, seed, dtype="F32", prefix="", activation="gelu"):
    offset = 2 if family == "xlm-roberta" else 0
    vocabulary = len(PIECES if family == "xlm-roberta" else WORDS)
    types = 1 if family == "xlm-roberta" else 2
    w = Weights(seed, dtype)
    w.add(prefix + "embeddings.word_embeddings.weight", vocabulary, HIDDEN)
    w.add(prefix + "embeddings.position_embeddings.weight", POSITIONS, HIDDEN)
    w.add(prefix + "embeddings.token_type_embeddings.weight", types, HIDDEN)
    w.norm(prefix + "embeddings.LayerNorm", HIDDEN)
    for i in range(LAYERS):
        layer = f"{prefix}encoder.layer.{i}."
        for part in ("query", "key", "value"):
            w.linear(layer + "attention.self." + part, HIDDEN, HIDDEN)
        w.linear(layer + "attention.output.dense", HIDDEN, HIDDEN)
        w.norm(layer + "attention.output.LayerNorm", HIDDEN)
        w.linear(layer + "intermediate.dense", HIDDEN, INNER)
        w.linear(layer + "output.dense", INNER, HIDDEN)
        w.norm(layer + "output.LayerNorm", HIDDEN)
    w.linear(prefix + "pooler.dense", HIDDEN, HIDDEN)
    write_tensors(os.path.join(folder, "model.safetensors"), w.tensors)
    architecture = {"bert": "BertModel", "xlm-roberta": "XLMRobertaModel"}[family]
    write_json(os.path.join(folder, "config.json"), {
        "architectures": [architecture], "model_type": family, "hidden_act": activation,
        "hidden_size": HIDDEN, "num_attention_heads": HEADS, "num_hidden_layers": LAYERS,
        "intermediate_size": INNER, "vocab_size": vocabulary,
        "max_position_embeddings": POSITIONS, "type_vocab_size": types,
        "layer_norm_eps": 1e-5 if offset else 1e-12, "pad_token_id": offset - 1 if offset else 0,
        "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1})
    tokenizer_files(folder, "unigram" if offset else "wordpiece", POSITIONS - offset)


def distilbert(folder, seed):
    w = Weights(seed, "BF16")
    w.add("distilbert.embeddings.word_embeddings.weight", len(WORDS), HIDDEN)
    w.add("distilbert.embeddings.position_embeddings.weight", POSITIONS, HIDDEN)
    w.norm("distilbert.embeddings.LayerNorm", HIDDEN)
    for i in range(LAYERS):
        layer = f"distilbert.transformer.layer.{i}."
        for part in ("q_lin", "k_lin", "v_lin", "out_lin"):
            w.linear(layer + "attention." + part, HIDDEN, HIDDEN)
        w.norm(layer + "sa_layer_norm", HIDDEN)
        w.linear(layer + "ffn.lin1", HIDDEN, INNER)
        w.linear(layer + "ffn.lin2", INNER, HIDDEN)
        w.norm(layer + "output_layer_norm", HIDDEN)
    write_tensors(os.path.join(folder, "model.safetensors"), w.tensors)
    write_json(os.path.join(folder, "config.json"), {
        "architectures": ["DistilBertModel"], "model_type": "distilbert", "activation": "relu",
        "dim": HIDDEN, "n_heads": HEADS, "n_layers": LAYERS, "hidden_dim": INNER,
        "vocab_size": len(WORDS), "max_position_embeddings": POSITIONS, "dropout": 0.1,
        "attention_dropout": 0.1, "sinusoidal_pos_embds": False, "pad_token_id": 0})
    tokenizer_files(folder, "wordpiece", POSITIONS)


def modules(folder, *lines):
    write_json(os.path.join(folder, "modules.json"),
               [{"idx": i, "name": str(i), "path": path, "type": kind}
                for i, (path, kind) in enumerate(lines)])


def dense(folder, inner, outer, seed, activation, bias=True):
    w = Weights(seed)
    w.add("linear.weight", outer, inner)
    if bias:
        w.add("linear.bias", outer)
    write_tensors(os.path.join(folder, "model.safetensors"), w.tensors)
    write_json(os.path.join(folder, "config.json"), {
        "in_features": inner, "out_features": outer, "bias": bias,
        "activation_function": "torch.nn.modules." + activation})


def make_all():
    # Old spelling, mean, a Normalize module whose folder is missing.
    folder = os.path.join(HERE, "bert")
    bert(folder, "bert", 1)
    modules(folder, ("", OLD + "Transformer"), ("1_Pooling", OLD + "Pooling"),
            ("2_Normalize", OLD + "Normalize"))
    write_json(os.path.join(folder, "sentence_bert_config.json"),
               {"max_seq_length": 20, "do_lower_case": False})
    write_json(os.path.join(folder, "1_Pooling/config.json"), {
        "word_embedding_dimension": HIDDEN, "pooling_mode_cls_token": False,
        "pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": False,
        "pooling_mode_mean_sqrt_len_tokens": False})

    # New spelling, several modes by name, Dense with and without bias.
    folder = os.path.join(HERE, "bert-dense")
    bert(folder, "bert", 2, activation="gelu_new")
    modules(folder, ("", "sentence_transformers.base.modules.transformer.Transformer"),
            ("1_Pooling", "sentence_transformers.sentence_transformer.modules.pooling.Pooling"),
            ("2_Dense", "sentence_transformers.base.modules.dense.Dense"),
            ("3_Dense", "sentence_transformers.base.modules.dense.Dense"),
            ("4_Normalize", "sentence_transformers.base.modules.normalize.Normalize"))
    write_json(os.path.join(folder, "sentence_bert_config.json"),
               {"transformer_task": "feature-extraction",
                "modality_config": {"text": {"method": "forward",
                                             "method_output_name": "last_hidden_state"}},
                "module_output_name": "token_embeddings"})
    write_json(os.path.join(folder, "1_Pooling/config.json"), {
        "embedding_dimension": HIDDEN, "pooling_mode": ["max", "cls", "mean"],
        "include_prompt": True})
    dense(os.path.join(folder, "2_Dense"), 3 * HIDDEN, 20, 3, "activation.Tanh")
    dense(os.path.join(folder, "3_Dense"), 20, 8, 4, "linear.Identity", bias=False)

    # Unigram tokenizer, positions from 2, half precision; prompts that do not count in the mean.
    folder = os.path.join(HERE, "xlm-roberta")
    bert(folder, "xlm-roberta", 5, dtype="F16")
    modules(folder, ("", OLD + "Transformer"), ("1_Pooling", OLD + "Pooling"))
    write_json(os.path.join(folder, "1_Pooling/config.json"), {
        "word_embedding_dimension": HIDDEN, "pooling_mode_mean_tokens": True,
        "include_prompt": False})
    write_json(os.path.join(folder, "config_sentence_transformers.json"), {
        "__version__": {"sentence_transformers": "5.0.0"},
        "prompts": {"query": "cat on ", "passage": "dogs "}, "default_prompt_name": None,
        "similarity_fn_name": "cosine"})

    # Other names of tensors and sizes, bfloat16, the rarer modes by booleans.
    folder = os.path.join(HERE, "distilbert")
    distilbert(folder, 6)
    modules(folder, ("", OLD + "Transformer"), ("1_Pooling", OLD + "Pooling"))
    write_json(os.path.join(folder, "1_Pooling/config.json"), {
        "word_embedding_dimension": HIDDEN, "pooling_mode_cls_token": False,
        "pooling_mode_mean_tokens": False, "pooling_mode_max_tokens": False,
        "pooling_mode_mean_sqrt_len_tokens": True, "pooling_mode_weightedmean_tokens": True,
        "pooling_mode_lasttoken": True})

    # No modules.json; a prefix before every tensor.
    folder = os.path.join(HERE, "plain")
    bert(folder, "bert", 7, prefix="bert.")

    # A table in a folder of its own.
    folder = os.path.join(HERE, "static")
    w = Weights(8)
    w.add("embedding.weight", len(WORDS), 12)
    write_tensors(os.path.join(folder, "0_StaticEmbedding/model.safetensors"), w.tensors)
    write_json(os.path.join(folder, "0_StaticEmbedding/tokenizer.json"), wordpiece())
    modules(folder, ("0_StaticEmbedding", OLD + "StaticEmbedding"), ("1_Normalize",
                                                                     OLD + "Normalize"))

    # Model2Vec with a mapping and weights, bytes, no modules.json.
    folder = os.path.join(HERE, "model2vec")
    w = Weights(9)
    w.dtype = "I8"
    w.add("embeddings", 6, 12)
    w.tensors["mapping"] = ("I32", [len(WORDS)], [i % 6 for i in range(len(WORDS))])
    w.dtype = "F64"
    w.add("weights", len(WORDS), low=0.5, high=1.5)
    write_tensors(os.path.join(folder, "model.safetensors"), w.tensors)
    write_json(os.path.join(folder, "tokenizer.json"), wordpiece())
    write_json(os.path.join(folder, "config.json"),
               {"model_type": "model2vec", "hidden_dim": 64, "normalize": True})


def write_expected():
    from sentence_transformers import SentenceTransformer
    for name in ("bert", "bert-dense", "xlm-roberta", "distilbert", "plain", "static"):
        model = SentenceTransformer(os.path.join(HERE, name), device="cpu")
        model.float()
        rows = {"texts": TEXTS}
        # encode_document of 6.2 passes over "passage", which its documentation names: said by hand.
        passage = model.prompts.get("document") or model.prompts.get("passage") or ""
        for kind, prompt in (("question", model.prompts.get("query")), ("document", passage)):
            rows[kind] = [[float(f"{x:.9g}") for x in model.encode(t, prompt=prompt, batch_size=1)]
                          for t in TEXTS]
        write(os.path.join(HERE, name + ".expected.json"), json.dumps(rows) + "\n")


if __name__ == "__main__":
    make_all()
    if "--expected" in sys.argv:
        write_expected()
