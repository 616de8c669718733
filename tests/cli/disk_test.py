"""A full disk and a read-only directory, in a mount namespace of their own."""
import os
import shutil
import subprocess
import unittest

from harness import PROGRAM, CliTest, main

SCRIPT = """
set -e
mount -t tmpfs -o size={size} tmpfs "$1"
shift
{before}
"$@"
"""


def namespaces_work():
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", "-m", "sh", "-c", "mount -t tmpfs tmpfs /mnt"],
                          capture_output=True).returncode == 0


@unittest.skipUnless(namespaces_work(), "mount namespaces need root")
class Disk(CliTest):
    def isolated(self, size, before, *command):
        script = SCRIPT.format(size=size, before=before)
        os.makedirs(self.data, exist_ok=True)
        return subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", self.data, *command],
                              capture_output=True, timeout=300)

    def rows(self, count):
        return self.write_rows("rows.jsonl", [{"id": f"d{i}", "text": f"Row {i}. " + "word " * 400}
                                              for i in range(count)])

    def test_a_full_disk_is_74_and_what_was_acknowledged_is_there(self):
        rows = self.rows(6000)
        script = (f'{PROGRAM} --data {self.data} add c {rows}; code=$?; '
                  f'{PROGRAM} --data {self.data} documents list c --limit 3 >&2 || exit 90; exit $code')
        done = self.isolated("6m", "", "sh", "-c", script)
        self.assertEqual(done.returncode, 74, done.stderr)
        self.assertIn(b"space", done.stderr)

    def test_a_read_only_directory_is_73(self):
        rows = self.rows(1)
        done = self.isolated("6m", f"mount -o remount,ro {self.data}", PROGRAM, "--data", self.data, "add", "c", rows)
        self.assertEqual(done.returncode, 73, done.stderr)
        self.assertIn(self.data.encode(), done.stderr)

    def test_a_temporary_folder_that_is_full_is_74(self):
        rows = self.rows(6000)
        done = self.isolated("2m", "", "env", f"TMPDIR={self.data}", PROGRAM, "--data", self.path("other"), "add",
                             "c", rows)
        self.assertEqual(done.returncode, 74, done.stderr)


if __name__ == "__main__":
    main()
