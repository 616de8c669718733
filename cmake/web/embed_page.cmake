# Writes OUT/page_table.cc (and OUT/page_bytes.S) from the files under DIST; ENABLED off: no files.
# The table is sorted by path, because find_page_asset searches it by halves.
cmake_minimum_required(VERSION 3.25)

function(content_type_of file variable)
  get_filename_component(extension "${file}" LAST_EXT)
  if(extension STREQUAL ".html")
    set(type "text/html; charset=utf-8")
  elseif(extension STREQUAL ".js")
    set(type "text/javascript; charset=utf-8")
  elseif(extension STREQUAL ".css")
    set(type "text/css; charset=utf-8")
  elseif(extension STREQUAL ".svg")
    set(type "image/svg+xml")
  elseif(extension STREQUAL ".txt")
    set(type "text/plain; charset=utf-8")
  else()
    message(FATAL_ERROR "${file}: no content type is known for ${extension}; add it here")
  endif()
  set(${variable} "${type}" PARENT_SCOPE)
endfunction()

# Written only when the contents differ, so that nothing is compiled again for nothing.
function(write_if_different file contents)
  set(old "")
  if(EXISTS "${file}")
    file(READ "${file}" old)
  endif()
  if(NOT old STREQUAL contents OR NOT EXISTS "${file}")
    file(WRITE "${file}" "${contents}")
  endif()
endfunction()

set(files "")
if(ENABLED)
  file(GLOB_RECURSE files RELATIVE "${DIST}" "${DIST}/*")
  list(SORT files)
  if(NOT "index.html" IN_LIST files)
    message(FATAL_ERROR "${DIST}/index.html is missing: the page was not built")
  endif()
  find_program(gzip gzip REQUIRED)
endif()

set(declarations "")
set(rows "")
set(assembly ".section .rodata\n")
set(number 0)
foreach(file IN LISTS files)
  set(packed "${OUT}/gzip/${file}.gz")
  get_filename_component(folder "${packed}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  # -n: neither name nor time, so the same page gives the same program.
  execute_process(COMMAND "${gzip}" -9 -n -c "${DIST}/${file}" OUTPUT_FILE "${packed}"
                  RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "gzip ${DIST}/${file} ended with ${failed}")
  endif()
  file(SHA256 "${DIST}/${file}" hash)
  file(SIZE "${packed}" size)
  content_type_of("${file}" type)
  set(immutable false)
  if(file MATCHES "^assets/.*-[A-Za-z0-9_-]+\\.[a-z0-9]+$")
    set(immutable true)  # Vite put a hash of the contents into the name
  endif()
  set(symbol "sibyl_page_${number}")
  string(APPEND assembly ".global ${symbol}\n${symbol}: /* ${hash} */\n.incbin \"${packed}\"\n")
  string(APPEND declarations "extern \"C\" const char ${symbol}[${size}];\n")
  string(APPEND rows "    PageAsset{\"/${file}\", \"${type}\", {${symbol}, ${size}},\n"
                     "              \"\\\"${hash}\\\"\", ${immutable}},\n")
  math(EXPR number "${number} + 1")
endforeach()
string(APPEND assembly ".section .note.GNU-stack,\"\",%progbits\n")

write_if_different("${OUT}/page_table.cc" "// Written by cmake/web/embed_page.cmake.
#include \"server/internal/page_table.h\"

${declarations}
namespace sibyl::server {
namespace {

constexpr std::array<PageAsset, ${number}> kAssets = {{
${rows}}};

}  // namespace

std::span<const PageAsset> page_assets() { return kAssets; }

}  // namespace sibyl::server
")
if(ENABLED)
  write_if_different("${OUT}/page_bytes.S" "${assembly}")
endif()
