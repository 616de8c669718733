"""Usage errors, help, version, configuration, doctor, and what is not built yet."""
import json

from harness import CliTest, main


class Usage(CliTest):
    def test_help_and_version(self):
        self.assertIn("add", self.sibyl("--help").out)
        self.assertIn("--max-bad", self.sibyl("add", "--help").out)
        version = self.sibyl("--version").out
        self.assertTrue(version.startswith("sibyl "), version)
        self.assertIn("kernels:", version)
        self.assertIn("zlib", version)

    def test_wrong_usage_is_64_and_names_what_was_meant(self):
        self.sibyl(expect=64)
        self.assertIn("did you mean `sibyl train`", self.sibyl("trian", expect=64).err)
        self.sibyl("add", expect=64)
        self.sibyl("ask", "c", "q", "--top", "0", expect=64)
        self.sibyl("ask", "c", "q", "--top", "many", expect=64)
        self.sibyl("add", "c", "x.csv", "--map", "text", expect=64)
        self.sibyl("--no-such-option", expect=64)

    def test_names_that_are_not_there_are_66(self):
        error = self.sibyl("--json", "ask", "nothing", "a question", expect=66)
        self.assertEqual(json.loads(error.out)["error"]["code"], "not-found")
        self.assertIn("nothing", error.err)
        self.sibyl("add", "c", self.path("no-file.jsonl"), expect=66)
        self.sibyl("jobs", "show", "none", expect=66)
        self.sibyl("train", self.path("no-job.yaml"), expect=66)

    def test_wrong_names_are_refused(self):
        rows = self.write_rows("rows.jsonl", [{"text": "a"}])
        self.sibyl("add", "no/slash", rows, expect=64)

    def test_cluster_commands_need_kubectl(self):
        done = self.sibyl("cluster", "doctor", expect=69, env={"PATH": self.path("nowhere")})
        self.assertIn("kubectl", done.err)

    def test_what_is_not_built_is_named(self):
        self.assertIn("vectors", self.sibyl("serve", "--role", "vectors", expect=69).err)

    def test_configuration(self):
        config = self.write("sibyl.yaml", "htp: 127.0.0.1:1\n")
        error = self.sibyl("--config", config, "collections", "list", expect=78).err
        self.assertIn("line 1", error)
        self.assertIn("did you mean 'http'", error)
        self.write("sibyl.yaml", f"data: {self.path('elsewhere')}\n")
        self.sibyl("--config", config, "collections", "list")

    def test_doctor_tells_about_the_machine(self):
        found = self.sibyl_json("doctor")
        self.assertGreater(found["memory_bytes"], 0)
        self.assertTrue(found["kernels"])
        self.assertTrue(found["gpu"])
        self.assertEqual(found["damage"], [])
        self.assertIn("kernels", self.sibyl("doctor").out)

    def test_no_colours_where_there_is_no_terminal(self):
        self.sibyl("add", "c", self.write_rows("rows.jsonl", [{"id": "a", "title": "T", "text": "One text."}]))
        self.assertNotIn("\x1b", self.sibyl("ask", "c", "text").out)

    def test_the_job_schema_is_printed(self):
        self.assertEqual(json.loads(self.sibyl("train", "--print-schema").out)["title"], "Sibyl job file")


if __name__ == "__main__":
    main()
