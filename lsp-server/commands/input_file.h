/// The file a subcommand works on, read and parsed.
#pragma once

#include "lsp-server/configuration/options.h"
#include "lsp-server/documents/snapshot.h"
#include "lsp-server/program/captured_kernels.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace kernelskill::lsp {

/// "file.cu:12": a place as compilers print it.
struct FilePlace {
    std::string file;
    std::optional<std::uint32_t> line; ///< Zero-based; nullopt when none was given.
};
/// InvalidInput when no line stands behind the last colon and no file has such a name.
[[nodiscard]] Result<FilePlace> parseFilePlace(const std::string& argument);

/// Called with the workbench before the file is parsed, to start slow work beside the parse.
using WorkbenchSink = std::function<void(const std::shared_ptr<const engine::Workbench>&)>;

/// Reads and parses `file`. InvalidInput when it cannot be read or is no text.
[[nodiscard]] Result<SnapshotPtr> openInput(const std::string& file, const Options& options,
                                            const WorkbenchSink& onWorkbench = {});

/// The same for one of several files, which share an engine. `root` is the file's workspace.
[[nodiscard]] Result<SnapshotPtr> openInputWith(std::shared_ptr<const engine::Workbench> workbench,
                                                const std::filesystem::path& file,
                                                const std::filesystem::path& root,
                                                const Options& options);

/// Reads files of a program whose words are behind `--`: no flags for a compiler stand there.
[[nodiscard]] CapturedKernels::Reader
readerOfProgram(std::shared_ptr<const engine::Workbench> workbench, std::filesystem::path root,
                Options options);

/// The kernel named, or at the line or launched there, or the first one. InvalidInput names those
/// there are; Failed when there is none at all.
[[nodiscard]] Result<const analysis::KernelModel*>
chooseKernel(const Snapshot& snapshot, const std::string& name,
             std::optional<std::uint32_t> line = std::nullopt);

} // namespace kernelskill::lsp
