/// Kernels of a tree, with the launches that a program of the tree made.
#pragma once

#include "engine/whole_program/kernel_places.h"
#include "lsp-server/documents/snapshot.h"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace kernelskill::lsp {

struct CapturedKernel {
    SnapshotPtr
        snapshot; ///< The file that the kernel is read in: its own, or one that includes it.
    const analysis::KernelModel* kernel = nullptr; ///< A kernel of the snapshot.
};

/// Reads each file once, with one engine for all.
class CapturedKernels {
public:
    /// Reads and parses a file of the tree, with the workbench.
    using Reader = std::function<Result<SnapshotPtr>(const std::filesystem::path& file)>;

    /// `captures` is a folder as of engine::CaptureStore.
    CapturedKernels(std::shared_ptr<const engine::Workbench> workbench, std::filesystem::path root,
                    const std::filesystem::path& captures, Reader reader);

    /// The kernel of this symbol at `place`; its captures come before those of the template's other
    /// instantiations. A header is read in the one source that includes it. InvalidInput if the
    /// file cannot be read or has no such kernel.
    [[nodiscard]] Result<CapturedKernel> open(const engine::KernelDefinition& place,
                                              const std::string& symbol);

    [[nodiscard]] const engine::Workbench& workbench() const { return *workbench_; }

private:
    [[nodiscard]] Result<SnapshotPtr> read(const std::filesystem::path& file);
    [[nodiscard]] std::filesystem::path includerOf(const std::filesystem::path& file) const;

    std::shared_ptr<const engine::Workbench> workbench_;
    std::filesystem::path root_;
    std::filesystem::path captures_;
    Reader reader_;
    std::map<std::filesystem::path, SnapshotPtr> read_;
};

} // namespace kernelskill::lsp
