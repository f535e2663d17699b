#include "lsp-server/documents/snapshot.h"

#include "engine/capture/capture_store.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::lsp {

namespace {

/// libclang needs some 50 times a text's size; beyond this a machine with a few gigabytes would
/// swap.
constexpr std::size_t maxTextBytes = 32u << 20;

} // namespace

const analysis::KernelModel* findKernel(const Snapshot& snapshot, std::string_view name) {
    return analysis::kernelNamed(snapshot.model(), name);
}

std::shared_ptr<const engine::CaptureStore> capturesIn(const std::filesystem::path& workspaceRoot) {
    if (workspaceRoot.empty())
        return nullptr;
    return std::make_shared<const engine::CaptureStore>(workspaceRoot / ".kernelskill" /
                                                        "captures");
}

std::string textProblem(std::string_view text) {
    if (text.substr(0, 4).ends_with("PNG") || text.find('\0') != std::string_view::npos)
        return "the file is not text (it holds binary data), so it is not analysed";
    if (text.size() > maxTextBytes)
        return fmt::format("the file has {} MiB; files over {} MiB are not analysed",
                           text.size() >> 20, maxTextBytes >> 20);
    return {};
}

} // namespace kernelskill::lsp
