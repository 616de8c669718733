# LibTorch from the unpacked PyPI wheel (docs/dependencies.md). The wheel's own package file wants a
# CUDA toolkit, so the targets are written here; the GPU library is opened at run time if present.
set(SIBYL_TORCH_ROOT "" CACHE PATH "Folder made by tools/setup torch: holds torch/ and nvidia/")
if(NOT SIBYL_TORCH_ROOT)
  set(SIBYL_TORCH_ROOT "${sibyl_cache}/torch-2.15.0")
endif()
set(torch "${SIBYL_TORCH_ROOT}/torch")
if(NOT EXISTS "${torch}/lib/libtorch_cpu.so")
  message(FATAL_ERROR "LibTorch is missing at ${SIBYL_TORCH_ROOT}; run tools/setup torch, "
                      "or configure with -DSIBYL_TRAINER=OFF")
endif()
# The wheel's include folder also holds other versions of fmt, oneDNN and protobuf than ours: only
# LibTorch's own headers are made visible.
set(torch_include "${CMAKE_BINARY_DIR}/torch-include")
file(MAKE_DIRECTORY "${torch_include}")
foreach(folder ATen c10 caffe2 torch)
  file(CREATE_LINK "${torch}/include/${folder}" "${torch_include}/${folder}" SYMBOLIC)
endforeach()
file(GLOB nvidia_libs "${SIBYL_TORCH_ROOT}/nvidia/*/lib")
add_library(sibyl_dep_torch INTERFACE)
add_library(sibyl::dep_torch ALIAS sibyl_dep_torch)
target_include_directories(sibyl_dep_torch SYSTEM INTERFACE
  "${torch_include}" "${torch_include}/torch/csrc/api/include")
target_link_libraries(sibyl_dep_torch INTERFACE "${torch}/lib/libtorch_cpu.so"
                      "${torch}/lib/libc10.so")
foreach(folder "${torch}/lib" ${nvidia_libs})
  target_link_options(sibyl_dep_torch INTERFACE "-Wl,-rpath-link,${folder}")
endforeach()

# An installed tree is relocatable: what the trainer loads lies beside it, in the wheel's own order
# of folders, by which LibTorch finds the rest.
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib/sibyl/torch/lib")
if(EXISTS "${torch}/lib/libtorch_cuda.so")
  # It links and opens others beside it, other ones in each release; what is left out is for Python.
  file(GLOB torch_runtime "${torch}/lib/lib*.so*")
  list(FILTER torch_runtime EXCLUDE REGEX "/lib(shm|torch|torch_global_deps|torch_python)\\.so$")
else()
  file(GLOB torch_runtime "${torch}/lib/libtorch_cpu.so" "${torch}/lib/libc10.so" "${torch}/lib/libgomp*.so*")
endif()
install(FILES ${torch_runtime} DESTINATION lib/sibyl/torch/lib)
install(DIRECTORY "${SIBYL_TORCH_ROOT}/nvidia" DESTINATION lib/sibyl
  FILES_MATCHING PATTERN "*.so*" PATTERN "include" EXCLUDE)
