#include "engine/review/control.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <string>
#include <variant>

namespace kernelskill::engine {
namespace {

constexpr const char* checkName = "control fails";

bool isRandomInput(const BufferSpec* buffer) {
    return buffer != nullptr && buffer->isInput && isMadeUp(buffer->fill);
}

/// Returns a result of another seed, or one of `others`, that differs from the first seed's; if
/// there is none, the second seed's.
const std::vector<BufferContents>&
otherResult(const std::vector<std::vector<BufferContents>>& seeds,
            const std::vector<std::vector<BufferContents>>& others, const Tolerance& tolerance) {
    const auto differs = [&](const std::vector<BufferContents>& result) {
        return !compareOutputs(seeds.front(), result, tolerance).agrees;
    };
    const auto seed = std::ranges::find_if(seeds, differs);
    if (seed != seeds.end())
        return *seed;
    const auto other = std::ranges::find_if(others, differs);
    return other != others.end() ? *other : seeds[1];
}

} // namespace

bool hasRandomInput(const LaunchSpec& launch) {
    return std::ranges::any_of(launch.arguments, [](const ArgumentSpec& argument) {
        return isRandomInput(std::get_if<BufferSpec>(&argument));
    });
}

bool readsRandomInput(const Profile& run) {
    return std::ranges::any_of(run.launch.arguments, [&](const ArgumentSpec& argument) {
        const auto* buffer = std::get_if<BufferSpec>(&argument);
        if (!isRandomInput(buffer))
            return false;
        const auto seen = std::ranges::find(run.extents, buffer->name, &BufferExtent::name);
        return seen == run.extents.end() || seen->read;
    });
}

CheckResult checkControl(const std::vector<std::vector<BufferContents>>& outputs,
                         const Tolerance& tolerance, bool readsRandom,
                         const std::vector<std::vector<BufferContents>>& others) {
    const auto& real = outputs.front();
    struct Control {
        const char* what;
        std::vector<BufferContents> wrong;
    };
    std::vector<Control> controls{{"a result of zeros", zeroed(real)}};
    // A single element, such as a sum, is constant in any case.
    const bool hasSeveral = std::ranges::any_of(real, [](const BufferContents& buffer) {
        return buffer.bytes.size() > buffer.elementBytes;
    });
    if (hasSeveral)
        controls.push_back({"a constant result", constantFilled(real)});
    if (readsRandom && outputs.size() > 1)
        controls.push_back({"the result of another seed", otherResult(outputs, others, tolerance)});
    std::string seen;
    for (const auto& [what, wrong] : controls) {
        if (compareOutputs(real, wrong, tolerance).agrees)
            return unusable(
                checkName,
                fmt::format("{} cannot be told from the kernel's result on these inputs, so "
                            "agreement shows nothing; pin inputs with a `// kernelskill: launch` "
                            "comment",
                            what));
        seen += fmt::format("{}{}", seen.empty() ? "" : ", ", what);
    }
    return held(checkName, "flagged as different: " + seen);
}

Check controlWithoutInput() {
    return held(checkName, "not applicable: the kernel has no random input");
}

} // namespace kernelskill::engine
