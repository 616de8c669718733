#pragma once

// What the room uses of LibTorch, in one place: it is precompiled (CMakeLists.txt).
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
