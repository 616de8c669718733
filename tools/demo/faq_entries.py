#!/usr/bin/env python3
"""Cuts the Debian FAQ into its numbered entries: documents without their headings, and the headings
that are questions as judged questions.

  faq_entries.py FOLDER OUT    writes OUT/faq_entries.jsonl and OUT/faq_questions.jsonl

An entry is a numbered heading ("12.1. What …?", "Chapter 3. …") with the text up to the next heading,
where there is any; headings stay out of the entries, so that questions cannot be found by their own words there.
"""
import glob
import html.parser
import json
import os
import re
import sys

NUMBERED = re.compile(r"^\s*(Chapter \d+|\d+(?:\.\d+)+)\.?\s+(.*)$", re.S)
HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
BLOCKS = {"p", "div", "li", "dt", "dd", "pre", "tr", "ul", "ol", "table", "br"}
SKIPPED_CLASSES = {"navheader", "navfooter", "toc"}
VOID = {"br", "hr", "img", "meta", "link", "input", "col", "area", "base", "wbr"}


class Entries(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.entries = []  # [number, title, [text pieces]]
        self.open_tags = []  # (tag, skipped)
        self.heading = None

    def skipped(self):
        return any(skip for _, skip in self.open_tags)

    def handle_starttag(self, tag, attributes):
        if tag in VOID:
            if tag == "br":
                self.add("\n")
            return
        classes = set((dict(attributes).get("class") or "").split())
        skip = bool(classes & SKIPPED_CLASSES) or tag in {"script", "style", "head"}
        self.open_tags.append((tag, skip))
        if tag in HEADINGS and not self.skipped():
            self.heading = ""
        elif tag in BLOCKS:
            self.add("\n")

    def handle_endtag(self, tag):
        names = [name for name, _ in self.open_tags]
        if tag not in names:
            return
        while self.open_tags and self.open_tags[-1][0] != tag:
            self.open_tags.pop()
        if tag in HEADINGS and self.heading is not None:
            match = NUMBERED.match(" ".join(self.heading.split()))
            title = " ".join(self.heading.split())
            self.entries.append([match.group(1), match.group(2), []] if match else ["", title, []])
            self.heading = None
        self.open_tags.pop()

    def handle_data(self, data):
        if self.heading is not None:
            self.heading += data
        elif not self.skipped():
            self.add(data)

    def add(self, piece):
        if self.entries and self.heading is None:
            self.entries[-1][2].append(piece)


def lines_of(pieces):
    rows = [" ".join(row.split()) for row in re.split(r"\n\s*\n", "".join(pieces))]
    return "\n".join(row for row in rows if row)


def main():
    folder, out = sys.argv[1:3]
    documents, questions = [], []
    pages = sorted(glob.glob(os.path.join(folder, "*.en.html")))
    if not pages:
        raise SystemExit(f"no *.en.html in {folder}: is debian-faq unpacked there?")
    for page in pages:
        parser = Entries()
        with open(page, encoding="utf-8") as file:
            parser.feed(file.read())
        for number, title, pieces in parser.entries:
            text = lines_of(pieces)
            if not number or not text:
                continue
            documents.append({"id": number, "text": text, "url": os.path.basename(page)})
            if "?" in title:
                questions.append({"question": title, "answer_id": number})
    for name, rows in (("faq_entries", documents), ("faq_questions", questions)):
        with open(os.path.join(out, name + ".jsonl"), "w", encoding="utf-8") as file:
            for row in rows:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(f"{len(documents)} entries, {len(questions)} questions")


if __name__ == "__main__":
    main()
