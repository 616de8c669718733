#!/usr/bin/env python3
"""Makes tokens.jsonl: our own hard strings with the ids and offsets that the PyPI package
`tokenizers` (0.23.3) gives for wordpiece.json and unigram.json of this folder.

    python3 make_tokens.py          # rewrites the three files
"""
import json
import pathlib

from tokenizers import Tokenizer

HERE = pathlib.Path(__file__).parent
WORDS = ("the of a in is hand book install ##ing ##ed ##s package search engine question answer "
         "cafe naive 北 京 한 국 ᄒ ##ᅡ ##ᆫ и где ##н а 1 2 3 ##1 ##2 un ##able ##aff - # ! ? . , ' "
         "[ ] token $ + ` « i istanbul strasse x ##y ##z q ##u ##e ##i ##t h e l o ##l ##o w ##r "
         "##d ß ##ß 😀").split(" ")
PIECES = [("<unk>", 0.0), ("▁", -2.0), ("▁the", -3.0), ("▁question", -5.0), ("▁search", -5.5),
          ("ing", -3.5), ("s", -3.0), ("a", -4.0), ("b", -4.5), ("e", -3.8), ("n", -4.1), ("in", -4.2),
          ("▁in", -3.9), ("▁install", -6.0), ("é", -7.0), ("京", -8.0), ("▁北京", -7.5), ("t", -4.4),
          ("h", -4.6), ("he", -4.3), ("▁t", -4.9), ("q", -6.6), ("u", -4.8), ("st", -5.1), ("i", -4.0),
          ("o", -4.0), ("on", -4.4), ("!", -5.0), ("<0x0A>", -9.0)]
TEXTS = ["", " ", "the", "The Question!", "installing packages", "searching the engines, unaffable",
         "naïve café CAFÉ e\u0301e", "北京 한국 где", "İstanbul straße ẞ", "x\u0000y z\u200bz\ufeff",
         "[SEP] in [CLS] the [MASK]text [sep]", "a\tb\r\nc\u2028d\u00a0e", "a" * 101, "y" * 100,
         "« 1+2 = 3 » `$' — …", "😀 😀the", "##ing # #s", "\u0345\u0301 \u1e9b\u0323", "the\u3000of",
         "①②½ ﬁ", "hello world hello", "\ufffd\ufffd the", "ünïcödé", "▁the ▁ the", "questions  the"]


def write_json(name, value):
    (HERE / name).write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def special(number, content):
    return {"id": number, "content": content, "single_word": False, "lstrip": False,
            "rstrip": False, "normalized": False, "special": True}


def template(first, last):
    single = [{"SpecialToken": {"id": first[0], "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
              {"SpecialToken": {"id": last[0], "type_id": 0}}]
    return {"type": "TemplateProcessing", "single": single,
            "pair": single + [{"Sequence": {"id": "B", "type_id": 0}}],
            "special_tokens": {name: {"id": name, "ids": [number], "tokens": [name]}
                               for name, number in (first, last)}}


def main():
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    write_json("wordpiece.json", {
        "version": "1.0", "truncation": {"max_length": 4, "strategy": "LongestFirst", "stride": 0,
                                         "direction": "Right"}, "padding": None,
        "added_tokens": [special(i, name) for i, name in enumerate(names)],
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                       "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": template(("[CLS]", 2), ("[SEP]", 3)), "decoder": None,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100,
                  "vocab": {word: i for i, word in enumerate(dict.fromkeys(names + WORDS))}}})
    write_json("unigram.json", {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [special(0, "<unk>")],
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "NFKC"}, {"type": "Lowercase"},
            {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "WhitespaceSplit"},
            {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}]},
        "post_processor": None, "decoder": None,
        "model": {"type": "Unigram", "unk_id": 0, "byte_fallback": False, "vocab": PIECES}})
    with open(HERE / "tokens.jsonl", "w") as out:
        for name in ("wordpiece.json", "unigram.json"):
            tokenizer = Tokenizer.from_file(str(HERE / name))
            tokenizer.no_truncation()
            for text in TEXTS:
                coded = tokenizer.encode(text)
                place = [len(text[:i].encode()) for i in range(len(text) + 1)]
                offsets = [[place[a], place[b]] for a, b in coded.offsets]
                print(json.dumps({"file": name, "text": text, "ids": coded.ids,
                                  "offsets": offsets}), file=out)


main()
