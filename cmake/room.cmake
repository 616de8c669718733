# One call a room. Sources are all *.cc of the folder and of internal/; x_test.cc become ROOM_test.
#   sibyl_room(NAME text DEPS base LINKS dep_utf8proc)
# DEPS are the rooms that DESIGN's table allows (tests/layers checks the #include lines against it);
# LINKS are third-party targets that only this room's .cc files may include.
function(sibyl_room)
  cmake_parse_arguments(R "" "NAME" "DEPS;LINKS;EXCLUDE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cc internal/*.cc)
  file(GLOB tests CONFIGURE_DEPENDS *_test.cc internal/*_test.cc)
  if(tests)
    list(REMOVE_ITEM sources ${tests})
  endif()
  foreach(item ${R_EXCLUDE})
    list(REMOVE_ITEM sources "${CMAKE_CURRENT_SOURCE_DIR}/${item}")
  endforeach()
  if(NOT sources)  # a room of headers alone still is a library that others link
    set(sources "${CMAKE_CURRENT_BINARY_DIR}/empty.cc")
    file(TOUCH "${sources}")
  endif()
  set(target sibyl_${R_NAME})
  add_library(${target} STATIC ${sources})
  add_library(sibyl::${R_NAME} ALIAS ${target})
  target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}/src")
  list(TRANSFORM R_DEPS PREPEND "sibyl::" OUTPUT_VARIABLE deps)
  target_link_libraries(${target} PUBLIC sibyl::dep_common ${deps} PRIVATE ${R_LINKS})
  if(SIBYL_TESTS AND tests)
    sibyl_test(NAME ${R_NAME}_test SOURCES ${tests} LINKS ${target} ${R_LINKS} LABEL ${R_NAME})
  endif()
endfunction()

# A GoogleTest program whose cases ctest lists by name; LABEL is what ./test NAME selects.
function(sibyl_test)
  cmake_parse_arguments(T "" "NAME;LABEL" "SOURCES;LINKS" ${ARGN})
  add_executable(${T_NAME} ${T_SOURCES})
  set_target_properties(${T_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  target_link_libraries(${T_NAME} PRIVATE ${T_LINKS} sibyl::dep_test)
  target_compile_definitions(${T_NAME} PRIVATE
    SIBYL_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data"
    SIBYL_SHARED_DATA="${PROJECT_SOURCE_DIR}/../shared/data"
    SIBYL_SHARED_CHECKS="${PROJECT_SOURCE_DIR}/../shared/checks"
    SIBYL_MINILM="${SIBYL_MINILM}")
  set(timeout_s 120)
  if(SIBYL_SANITIZE)
    set(timeout_s 900) # several times slower
  endif()
  gtest_discover_tests(${T_NAME} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS "${T_LABEL}" TIMEOUT ${timeout_s})
endfunction()
