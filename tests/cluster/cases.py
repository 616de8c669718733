# SPDX-License-Identifier: Apache-2.0
"""Values files, and values behind them, that the tests of rendered objects and of the API server share."""

import rendering as r

STORE = {
    "store": {"uri": "s3://bucket/sibyl", "endpoint": "http://minio:9000", "region": "eu-west-1", "secretName": "s3"}
}
EVERYTHING = {
    **STORE,
    "trainer": {"queue": "gpu-queue", "podLabels": {"team": "search"}},
    "retraining": {
        "schedules": ["0 3 * * 0"],
        "job": {"kind": "supervised", "name": "helpdesk", "data": {"collection": "helpdesk"}},
    },
    "serving": {"canary": {"share": 10}, "autoscaling": {"enabled": True}},
    "answers": {
        "tls": {"secretName": "tls", "caSecretName": "ca"},
        "ingress": {"enabled": True, "host": "answers.example.com"},
    },
}
CASES = {
    "defaults": ([], None),
    "gke-files": ([r.QUESTION_ANSWERING, r.MILVUS], None),
    "gke-spot-everything": ([r.preset("gke-spot")], EVERYTHING),
    "kserve": ([r.preset("aks-spot")], {"serving": {"kind": "kserve", "canary": {"share": 25}}, **STORE}),
    "jobs-and-deployment": (
        [r.preset("k3s")],
        {
            "trainer": {"kind": "job"},
            "serving": {"kind": "deployment", "autoscaling": {"enabled": True}, "canary": {"share": 50}},
        },
    ),
}
