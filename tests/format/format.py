#!/usr/bin/env python3
"""Every C++ file is as clang-format 19 with the repository's style leaves it.

  format.py REPOSITORY CLANG_FORMAT     exit 1 and the names of files that are not
"""
import os
import subprocess
import sys

root, formatter = sys.argv[1:3]
names = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "*.cc", "*.h"],
                       capture_output=True, text=True, check=True).stdout.split()
names = [name for name in names if os.path.isfile(os.path.join(root, name))]
result = subprocess.run([formatter, "--dry-run", "-Werror", *names], cwd=root, capture_output=True,
                        text=True, check=False)
wrong = sorted({line.split(":")[0] for line in result.stderr.splitlines() if "clang-format-violations" in line})
print("\n".join(wrong))
print(f"{len(names)} files, {len(wrong)} not formatted; {formatter} -i mends them")
sys.exit(0 if result.returncode == 0 and names else 1)
