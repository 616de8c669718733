"""Who owns a data directory, ports, signals."""
import json
import os
import signal
import subprocess
import time

from harness import PROGRAM, CliTest, main


class Ownership(CliTest):
    def test_two_servers_on_one_directory(self):
        self.serve()
        error = self.sibyl("serve", "--http", "127.0.0.1:0", "--grpc", "", expect=69).err
        self.assertIn(self.data, error)

    def test_a_port_in_use(self):
        _, address = self.serve()
        error = self.sibyl("serve", "--http", address, "--grpc", "", expect=69, data=self.path("other")).err
        self.assertIn(address.split(":")[1], error)

    def test_an_owner_that_does_not_answer(self):
        process, _ = self.serve()
        process.send_signal(signal.SIGSTOP)
        self.addCleanup(process.send_signal, signal.SIGCONT)
        start = time.time()
        self.sibyl("collections", "list", expect=69, timeout_s=300)
        self.assertLess(time.time() - start, 250)

    def test_many_commands_at_once_all_come_through(self):
        self.serve()
        running = []
        for i in range(8):
            rows = self.write_rows(f"rows{i}.jsonl", [{"id": f"{i}-{j}", "text": f"Text {i} {j}."} for j in range(50)])
            running.append(subprocess.Popen([PROGRAM, "--data", self.data, "--json", "add", "c", rows],
                                            stdout=subprocess.PIPE))
        for process in running:
            out, _ = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0)
            self.assertEqual(json.loads(out)["added"], 50)
        self.assertEqual(self.sibyl_json("collections", "show", "c")["rows"], 400)

    def test_sigterm_ends_a_server_with_0_and_frees_the_directory(self):
        process, _ = self.serve()
        self.sibyl("add", "c", self.write_rows("rows.jsonl", [{"id": "a", "text": "One."}]))
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), 0)
        self.assertEqual(self.sibyl_json("documents", "get", "c", "a")["text"], "One.")

    def test_what_was_acknowledged_survives_a_kill(self):
        process, _ = self.serve()
        self.sibyl("add", "c", self.write_rows("rows.jsonl", [{"id": "a", "text": "One."}]))
        process.send_signal(signal.SIGKILL)
        process.wait(60)
        self.assertEqual(self.sibyl_json("documents", "get", "c", "a")["text"], "One.")

    def test_a_reader_that_goes_away_is_no_crash(self):
        self.sibyl("add", "c", self.write_rows("rows.jsonl", [{"id": f"{i}", "text": "word " * 200} for i in range(300)]))
        process = subprocess.Popen([PROGRAM, "--data", self.data, "documents", "export", "c"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.read(10)
        process.stdout.close()
        _, err = process.communicate(timeout=60)
        self.assertGreaterEqual(process.returncode, 0, err)


if __name__ == "__main__":
    main()
