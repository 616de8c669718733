#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/provenance.h"

namespace sibyl::model {

inline constexpr const char* kProvenanceFile = "sibyl.json";
inline constexpr size_t kModelFilesMax = 1000;
inline constexpr size_t kModelFolderDepthMax = 3;

struct ModelFile {
  std::string path;  ///< relative to the model
  uint64_t bytes = 0;
};

/// The files of a model directory that this program or sentence-transformers reads (JSON, text,
/// safetensors, SentencePiece, notices), by name; hidden ones, pickles and other formats are left
/// out.
Result<std::vector<ModelFile>> list_model_files(const std::string& model_path);

/// Whether the path is relative and stays inside the folder it is joined to.
bool is_inner_path(std::string_view path);

/// Copies one file, synced; the folder of the target must be there.
Result<void> copy_file_synced(const std::string& from, const std::string& to);
/// Copies all of `list_model_files` with their folders; every file and folder is synced.
Result<void> copy_model(const std::string& from, const std::string& to);
/// Syncs a folder and the folders in it.
Result<void> sync_folders(const std::string& path);

/// What sibyl.json's text says.
Result<Provenance> parse_provenance(std::string_view json, const std::string& name);

}  // namespace sibyl::model
