/// Reads the archives that torch.export.save of PyTorch 2.6 to 2.11 writes (*.pt2).
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/archive.h"
#include "engine/graph/program.h"

#include <filesystem>

namespace kernelskill::engine::graph {

/// The program of an archive; its tensors stay mapped as long as they are held. InvalidInput or
/// Unsupported, with the entry and the node, if the archive is damaged, holds no exported program,
/// holds several of which none is called "model", or is not one of PyTorch 2.6 to 2.11. What is
/// left out, the program's notes say. Nothing of the archive is run.
[[nodiscard]] Result<Program> readProgram(const std::filesystem::path& path);

/// The same of an archive that is open.
[[nodiscard]] Result<Program> readProgram(Archive& archive);

} // namespace kernelskill::engine::graph
