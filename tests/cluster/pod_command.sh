#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A program of a simulated pod, under the name that it is called by: /workspace is $SIBYL_POD_WORKSPACE.
for word; do
  shift
  case $word in
    /workspace/*) word=$SIBYL_POD_WORKSPACE/${word#/workspace/} ;;
    of=/workspace/*) word=of=$SIBYL_POD_WORKSPACE/${word#of=/workspace/} ;;
  esac
  set -- "$@" "$word"
done
exec "/usr/bin/$(basename "$0")" "$@"
