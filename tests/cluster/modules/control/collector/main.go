// SPDX-License-Identifier: Apache-2.0

// Command pod-collector runs Kubernetes' own collector of lost pods with pauses that one chooses: in the controller
// manager they are constants, 20 and 40 s.
package main

import (
	"context"
	"flag"
	"log"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/kubernetes/pkg/controller/podgc"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "path of the kubeconfig")
	period := flag.Duration("period", 20*time.Second, "how often it looks")
	quarantine := flag.Duration("quarantine", 40*time.Second, "how long a node must be gone")
	flag.Parse()

	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	client := kubernetes.NewForConfigOrDie(config)
	shared := informers.NewSharedInformerFactory(client, 0)
	const keepAllFinished = 0
	collector := podgc.NewPodGCInternal(ctx, client, shared.Core().V1().Pods(), shared.Core().V1().Nodes(), keepAllFinished, *period, *quarantine)
	shared.Start(ctx.Done())
	collector.Run(ctx)
}
