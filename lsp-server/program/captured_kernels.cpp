#include "lsp-server/program/captured_kernels.h"

#include "analysis/command/includer_search.h"
#include "analysis/source/files.h"
#include "analysis/source/try.h"
#include "engine/capture/capture_store.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace kernelskill::lsp {

namespace fs = std::filesystem;

namespace {

const analysis::KernelModel* kernelOf(const Snapshot& snapshot,
                                      const engine::KernelDefinition& place,
                                      const std::string& symbol) {
    const auto& kernels = snapshot.model().kernels;
    const auto named = std::ranges::find_if(
        kernels, [spelled = engine::kernelSymbol(symbol)](const analysis::KernelModel& kernel) {
            return engine::names(spelled, kernel);
        });
    return named != kernels.end() ? &*named : findKernel(snapshot, place.qualifiedName);
}

} // namespace

CapturedKernels::CapturedKernels(std::shared_ptr<const engine::Workbench> workbench, fs::path root,
                                 const fs::path& captures, Reader reader)
    : workbench_(std::move(workbench)), root_(std::move(root)), captures_(captures),
      reader_(std::move(reader)) {}

fs::path CapturedKernels::includerOf(const fs::path& file) const {
    const auto text = analysis::readFile(file);
    if (!text)
        return {};
    const auto found = analysis::findIncluders({file, *text, root_, {}, nullptr});
    return found.sources.size() == 1 ? found.sources.front() : fs::path();
}

Result<SnapshotPtr> CapturedKernels::read(const fs::path& file) {
    if (const auto known = read_.find(file); known != read_.end())
        return known->second;
    KERNELSKILL_TRY(auto opened, reader_(file));
    return read_[file] = std::move(opened);
}

Result<CapturedKernel> CapturedKernels::open(const engine::KernelDefinition& place,
                                             const std::string& symbol) {
    const fs::path file = root_ / place.file;
    for (const fs::path& source : {includerOf(file), file}) {
        if (source.empty())
            continue;
        KERNELSKILL_TRY(const auto snapshot, read(source));
        if (const auto* kernel = kernelOf(*snapshot, place, symbol)) {
            auto own = std::make_shared<Snapshot>(*snapshot);
            own->program.captures = std::make_shared<const engine::CaptureStore>(captures_, symbol);
            return CapturedKernel{std::move(own), kernel};
        }
    }
    return std::unexpected(
        Error{ErrorKind::InvalidInput,
              fmt::format("the file is read without the kernel '{}'", place.qualifiedName),
              fmt::format("{}:{}", file.string(), place.line + 1),
              "a macro may leave it out: put the compiler's flags into compile_flags.txt"});
}

} // namespace kernelskill::lsp
