# What holds for every target: language, warnings, linker, cache, sanitizers, where outputs lie.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")

add_compile_options(-Wall -Wextra -Werror -Wnon-virtual-dtor
                    $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local> -fno-math-errno -ffp-contract=off)

find_program(SIBYL_CCACHE ccache)
if(SIBYL_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${SIBYL_CCACHE}")
endif()

find_program(SIBYL_MOLD mold)
if(SIBYL_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
add_link_options(-Wl,--as-needed)

if(SIBYL_SANITIZE)
  add_compile_options(-fsanitize=${SIBYL_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SIBYL_SANITIZE})
endif()

if(SIBYL_FUZZ)
  # Coverage in the rooms too, or the fuzzer would not see where its inputs lead.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# The MiniLM weights that tools/setup fetches; tests that need them are skipped by name without.
if(DEFINED ENV{XDG_CACHE_HOME})
  set(sibyl_cache "$ENV{XDG_CACHE_HOME}/sibyl")
else()
  set(sibyl_cache "$ENV{HOME}/.cache/sibyl")
endif()
set(SIBYL_MINILM "${sibyl_cache}/minilm" CACHE PATH "Model directory of all-MiniLM-L6-v2, for tests")
