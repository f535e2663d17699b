/// The tensors in a file of torch.save, which is a zip archive of a pickle and its storages.
#pragma once

#include "engine/graph/archive.h"
#include "engine/graph/program.h"

#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine::graph {

struct SavedTensors {
    /// The tensors in the order of the file. The names are keys of the outermost dictionary, empty
    /// for tensors elsewhere. Numbers, strings and None are left out.
    std::vector<std::pair<std::string, TensorData>> tensors;
};

/// InvalidInput if the file is damaged, a tensor reaches beyond its storage, or there is anything
/// but tensors and plain values in tuples, lists and dictionaries: its global is named.
[[nodiscard]] Result<SavedTensors> readSavedTensors(SharedBytes file, const std::string& name);

} // namespace kernelskill::engine::graph
