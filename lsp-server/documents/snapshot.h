/// One version of a document, parsed. Immutable and shared: every feature reads a snapshot and
/// nothing else.
#pragma once

#include "analysis/model/kernel_model.h"
#include "engine/memory/short_term_memory.h"
#include "engine/workbench/workbench.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace kernelskill::lsp {

struct Snapshot {
    std::string uri;
    int version = 0;
    std::uint64_t generation = 0; ///< Counts parses: also grows when a header or a setting changes.
    std::filesystem::path workspaceRoot; ///< Empty when the file lies in no workspace folder.
    engine::ProgramSource program;       ///< Its model is always set.
    std::shared_ptr<const engine::Workbench> workbench;

    [[nodiscard]] const analysis::FileModel& model() const { return *program.model; }
    [[nodiscard]] const analysis::SourceText& source() const { return *program.model->source; }
    /// Whether `kernel` can be shown in this document (it may come from a header).
    [[nodiscard]] bool isInMainFile(const analysis::KernelModel& kernel) const {
        return kernel.file == model().file;
    }
    /// Whether `kernel` is spoken of where the document's kernels are listed: those of the source
    /// that a header is read through are listed there.
    [[nodiscard]] bool isListed(const analysis::KernelModel& kernel) const {
        return model().includer.empty() || isInMainFile(kernel);
    }
    /// The attempts on the kernels of this document.
    [[nodiscard]] engine::ShortTermMemory memory() const { return {workspaceRoot, program.file}; }
};

using SnapshotPtr = std::shared_ptr<const Snapshot>;

/// Kernel of the main file by qualified or plain name; nullptr when there is none.
[[nodiscard]] const analysis::KernelModel* findKernel(const Snapshot& snapshot,
                                                      std::string_view name);

/// The launches captured from programs, kept in the workspace's `.kernelskill/captures/`; null
/// without a workspace.
[[nodiscard]] std::shared_ptr<const engine::CaptureStore>
capturesIn(const std::filesystem::path& workspaceRoot);

/// Why `text` is not worth parsing ("the file is not text: ..."); empty when it is.
[[nodiscard]] std::string textProblem(std::string_view text);

} // namespace kernelskill::lsp
