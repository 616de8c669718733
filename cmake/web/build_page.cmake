# Builds web/ into DIST. NODE, NPM, SOURCE, DIST are given with -D. Packages are installed when the
# lock file is another one than those in node_modules came from; build folders share node_modules, so
# one of them works at a time.
cmake_minimum_required(VERSION 3.25)
get_filename_component(node_folder "${NODE}" DIRECTORY)
set(ENV{PATH} "${node_folder}:$ENV{PATH}")
if(NPM MATCHES "\\.[cm]?js$")
  set(npm "${NODE}" "${NPM}")
else()
  set(npm "${NPM}")
endif()

# Not inside node_modules: npm ci empties that.
file(MAKE_DIRECTORY "${SOURCE}/.cache")
file(LOCK "${SOURCE}/.cache/build.lock" GUARD PROCESS TIMEOUT 900 RESULT_VARIABLE lock)
if(lock)
  message(FATAL_ERROR "${SOURCE}/.cache/build.lock is held by another build: ${lock}")
endif()
set(stamp "${SOURCE}/node_modules/.sibyl-lock-sha256")
file(SHA256 "${SOURCE}/package-lock.json" wanted)
set(installed "")
if(EXISTS "${stamp}")
  file(READ "${stamp}" installed)
endif()
if(NOT installed STREQUAL wanted)
  execute_process(COMMAND ${npm} ci --ignore-scripts --no-audit --no-fund
                  WORKING_DIRECTORY "${SOURCE}" RESULT_VARIABLE failed
                  OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed)
    message(FATAL_ERROR "npm ci failed in ${SOURCE} (${failed}); it needs the npm registry once. "
                        "Without a network build with -DSIBYL_WEB=OFF.\n${output}")
  endif()
  file(WRITE "${stamp}" "${wanted}")
endif()
execute_process(COMMAND "${NODE}" node_modules/vite/bin/vite.js build --outDir "${DIST}"
                        --emptyOutDir --logLevel warn
                WORKING_DIRECTORY "${SOURCE}" RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "The page in ${SOURCE} does not build (vite ended with ${failed}).")
endif()
