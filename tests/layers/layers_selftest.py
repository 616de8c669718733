#!/usr/bin/env python3
"""The layer test must fail on what it forbids: a small tree with one forbidden line of each kind."""
import os
import subprocess
import sys
import tempfile

FORBIDDEN = {
    "src/text/a.cc": '#include "store/collection.h"\n',
    "src/rank/b.cc": "#include <boost/asio.hpp>\n",
    "src/simd/c.h": "#include <hwy/highway.h>\n",
    "src/model/d.cc": '#include "text/internal/x.h"\n',
    "src/store/e.h": '#include "base/json.h"\n',
}


def run(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            os.makedirs(os.path.join(folder, os.path.dirname(name)), exist_ok=True)
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(content)
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "layers.py")
        return subprocess.run([sys.executable, script, folder], capture_output=True, text=True, check=False)


for path, line in FORBIDDEN.items():
    result = run({path: line})
    assert result.returncode == 1 and "1 findings" in result.stdout, (path, result.stdout)
allowed = run({"src/store/f.cc": '#include "index/postings.h"\n#include "store/internal/x.h"\n'})
assert allowed.returncode == 0, allowed.stdout
print("every forbidden line is found")
