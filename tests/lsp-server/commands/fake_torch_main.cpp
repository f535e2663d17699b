// A stand-in for kernelskill-torch with a GPU. The libraries of models are texts that a stand-in
// for nvcc made: what they say of their products decides how long they take, and whether a program
// with them is right. Each request is a line in the file `requests` beside the executable.
#include "engine/graph/reference/torch_wire.h"
#include "engine/process/frame_io.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>

namespace kernelskill::engine::graph {
namespace {

std::string textOf(const std::filesystem::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

bool isInSplitBFloat16(const std::string& text) {
    return text.contains("bfloat16 in two parts");
}

bool isInSplitTf32(const std::string& text) {
    return text.contains("TF32 in two parts");
}

bool isInTf32(const std::string& text) {
    return (text.contains("stages, TF32") && !isInSplitTf32(text)) ||
           (text.contains("library.run(") && !text.contains("needsFloat32"));
}

double microsecondsOf(const std::string& text) {
    if (text.contains("library.run("))
        return isInTf32(text) ? 50 : 90;
    if (isInTf32(text))
        return 40;
    return isInSplitBFloat16(text) ? 55 : (isInSplitTf32(text) ? 60 : 100);
}

TorchAnswer answerTo(const TorchVersionRequest&) {
    TorchVersion version;
    version.version = "2.11.0";
    version.isBuiltWithCuda = true;
    version.devices = {"a GPU"};
    return version;
}

TorchAnswer answerTo(const TorchHeatRequest& request) {
    TorchHeat heat;
    for (const std::filesystem::path& library : request.libraries)
        heat.lanes.push_back({TorchTiming{{microsecondsOf(textOf(library))}, true}, ""});
    return heat;
}

TorchAnswer answerTo(const TorchMixRequest& request) {
    TorchMixes mixes;
    for (const auto& mix : request.mixes) {
        const bool isWrong = std::ranges::any_of(mix, [&](std::size_t library) {
            const std::string text = textOf(request.libraries[library].library);
            return isInTf32(text) ||
                   (request.tolerance == Tolerance::Tight && isInSplitBFloat16(text));
        });
        mixes.verdicts.push_back(
            isWrong
                ? MixVerdict{MixVerdict::Outcome::Wrong, 0.1,
                             "normal inputs, seed 1: output 0 at [3, 7]: 1.5 instead of 1.25", ""}
                : MixVerdict{MixVerdict::Outcome::Right, 2e-3, "normal inputs, seed 1", ""});
    }
    return mixes;
}

template <typename Other>
TorchAnswer answerTo(const Other&) {
    return TorchFailure{{ErrorKind::Unsupported, "the stand-in does not do that", "", ""}, false};
}

} // namespace
} // namespace kernelskill::engine::graph

int main() {
    using namespace kernelskill::engine;
    const auto log = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "requests";
    while (const auto payload = wire::readPayload(STDIN_FILENO)) {
        const auto request = graph::decodeTorchRequest(*payload);
        if (!request)
            return 1;
        std::ofstream(log, std::ios::app) << request->index() << '\n';
        const graph::TorchAnswer answer =
            std::visit([](const auto& each) { return graph::answerTo(each); }, *request);
        if (!wire::writeAll(STDOUT_FILENO, graph::encode(answer)))
            return 0;
    }
    return 0;
}
