# The .proto files of proto/ as C++: sibyl::protos. Its own library, because generated code does not
# keep to our warnings; whoever links it sees the headers as those of a third party.
function(sibyl_protos)
  set(folder "${CMAKE_BINARY_DIR}/proto")
  file(MAKE_DIRECTORY "${folder}")
  set(sources "")
  foreach(name ${ARGN})
    set(proto "${PROJECT_SOURCE_DIR}/proto/${name}.proto")
    set(outputs "")
    foreach(kind pb grpc.pb)
      list(APPEND outputs "${folder}/${name}.${kind}.cc" "${folder}/${name}.${kind}.h")
    endforeach()
    add_custom_command(OUTPUT ${outputs}
      COMMAND "${SIBYL_PROTOC}" "--proto_path=${PROJECT_SOURCE_DIR}/proto" "--cpp_out=${folder}"
              "--grpc_out=${folder}" "--plugin=protoc-gen-grpc=${SIBYL_GRPC_PLUGIN}" "${proto}"
      DEPENDS "${proto}" COMMENT "Protocol ${name}" VERBATIM)
    list(APPEND sources ${outputs})
  endforeach()
  add_library(sibyl_protos STATIC ${sources})
  add_library(sibyl::protos ALIAS sibyl_protos)
  target_compile_options(sibyl_protos PRIVATE -w)
  target_include_directories(sibyl_protos SYSTEM PUBLIC "${folder}")
  target_link_libraries(sibyl_protos PUBLIC sibyl::dep_grpc)
endfunction()
