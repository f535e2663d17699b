/// Writes programs as torch.export.save does, so that tests can make archives of any graph.
#pragma once

#include "engine/graph/program.h"

#include <filesystem>
#include <string>

namespace kernelskill::engine::graph::testing {

/// models/model.json of a program whose arguments are tensors, numbers, truths and lists of them,
/// also numbers that are computed of extents.
[[nodiscard]] std::string exportedJson(const Program& program);

/// The bytes of an archive of the program, without weights and sample inputs.
[[nodiscard]] std::string exportedArchive(const Program& program);

/// Writes that archive to `path`.
void writeExported(const Program& program, const std::filesystem::path& path);

} // namespace kernelskill::engine::graph::testing
