# The page inside the program. sibyl_embed_page(TARGET) adds the table that server/page.h looks up:
# one gzip member a file of the built page, put in by the assembler (.incbin costs 0.1 s where a C
# array of the same bytes costs seconds). Without SIBYL_WEB the table is empty.
set(SIBYL_WEB_SOURCE "${PROJECT_SOURCE_DIR}/web")
set(SIBYL_WEB_DIST "${CMAKE_BINARY_DIR}/page/dist")

if(SIBYL_WEB)
  find_program(SIBYL_NODE node DOC "Node that builds the page: ^20.19 or >= 22.12")
  find_program(SIBYL_NPM npm DOC "npm, or the path of its npm-cli.js")
  set(hint "run tools/setup, give -DSIBYL_NODE=… and -DSIBYL_NPM=…, or build without the page: "
           "-DSIBYL_WEB=OFF")
  if(NOT SIBYL_NODE)
    message(FATAL_ERROR "Node is missing (^20.19 or >= 22.12 builds the page); " ${hint})
  endif()
  if(NOT SIBYL_NPM)
    message(FATAL_ERROR "npm is missing (it fetches what the page is built with); " ${hint})
  endif()
  execute_process(COMMAND "${SIBYL_NODE}" --version OUTPUT_VARIABLE node_version
                  OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE node_failed)
  string(REGEX REPLACE "^v" "" node_version "${node_version}")
  if(node_failed OR NOT (node_version VERSION_GREATER_EQUAL 22.12 OR
     (node_version VERSION_GREATER_EQUAL 20.19 AND node_version VERSION_LESS 21)))
    message(FATAL_ERROR "${SIBYL_NODE} is version ${node_version}; ^20.19 or >= 22.12 is needed: "
                        ${hint})
  endif()
endif()

# Writes `cc` and `assembly` for the page in SIBYL_WEB_DIST; call it where TARGET was made.
function(sibyl_embed_page target)
  set(page "${CMAKE_BINARY_DIR}/page")
  set(outputs "${page}/page_table.cc")
  set(commands "")
  set(inputs "${PROJECT_SOURCE_DIR}/cmake/web/embed_page.cmake")
  if(SIBYL_WEB)
    list(APPEND outputs "${page}/page_bytes.S")
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${SIBYL_WEB_SOURCE}/src/*"
         "${SIBYL_WEB_SOURCE}/public/*")
    list(APPEND inputs ${sources} "${PROJECT_SOURCE_DIR}/cmake/web/build_page.cmake")
    foreach(file index.html vite.config.ts tsconfig.json package.json package-lock.json .npmrc)
      list(APPEND inputs "${SIBYL_WEB_SOURCE}/${file}")
    endforeach()
    set(commands COMMAND "${CMAKE_COMMAND}" "-DNODE=${SIBYL_NODE}" "-DNPM=${SIBYL_NPM}"
        "-DSOURCE=${SIBYL_WEB_SOURCE}" "-DDIST=${SIBYL_WEB_DIST}"
        -P "${PROJECT_SOURCE_DIR}/cmake/web/build_page.cmake")
  endif()
  add_custom_command(OUTPUT ${outputs} ${commands}
    COMMAND "${CMAKE_COMMAND}" "-DENABLED=${SIBYL_WEB}" "-DDIST=${SIBYL_WEB_DIST}" "-DOUT=${page}"
            -P "${PROJECT_SOURCE_DIR}/cmake/web/embed_page.cmake"
    DEPENDS ${inputs} COMMENT "Page" VERBATIM)
  target_sources(${target} PRIVATE ${outputs})
endfunction()
