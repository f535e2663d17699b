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

using Outputs = std::vector<BufferContents>;

/// Whether `wrong(result)` would pass for the result, for each of them.
template <typename Wrong>
bool allPassAs(const std::vector<const Outputs*>& results, const Tolerance& tolerance,
               const Wrong& wrong) {
    return std::ranges::all_of(results, [&](const Outputs* real) {
        return compareOutputs(*real, wrong(*real), tolerance).agrees;
    });
}

/// Whether there is more than one element: a single one, such as a sum, is always constant.
bool hasSeveralElements(const Outputs& outputs) {
    return std::ranges::any_of(outputs, [](const BufferContents& buffer) {
        return buffer.bytes.size() > buffer.elementBytes;
    });
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
    const Outputs& first = outputs.front();
    std::vector<const Outputs*> results;
    for (const auto* some : {&outputs, &others})
        for (const Outputs& one : *some)
            results.push_back(&one);
    const std::vector<const Outputs*> afterFirst(results.begin() + 1, results.end());
    struct Control {
        const char* what;
        bool passes;
    };
    std::vector<Control> controls{{"a result of zeros", allPassAs(results, tolerance, zeroed)}};
    if (hasSeveralElements(first))
        controls.push_back({"a constant result", allPassAs(results, tolerance, constantFilled)});
    if (readsRandom && outputs.size() > 1)
        controls.push_back(
            {"the result of another seed",
             allPassAs(afterFirst, tolerance, [&](const Outputs&) { return first; })});
    std::string seen;
    for (const auto& [what, passes] : controls) {
        if (passes)
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
