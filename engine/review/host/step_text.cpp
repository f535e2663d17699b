#include "engine/review/host/step_text.h"

#include "engine/review/host/stream_assumption.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::engine {

std::string nameOfHandle(const std::string& handle) {
    constexpr std::string_view argument = "argument:";
    if (handle.empty())
        return "the default stream";
    if (handle == elsewhere)
        return "another stream";
    if (handle.starts_with(argument))
        return handle.substr(argument.size());
    const auto variable = handle.find(":&"); // "stream#0:&s:cudaStreamCreate"
    if (variable == std::string::npos)
        return handle;
    const auto begin = variable + 2;
    return handle.substr(begin, handle.find(':', begin) - begin);
}

std::string describeStep(const HostStep* step) {
    if (step == nullptr)
        return "nothing more";
    std::string what = step->what;
    std::size_t at = 0;
    for (const std::string& handle : step->handles) {
        at = what.find('%', at);
        if (at == std::string::npos)
            break;
        what.replace(at, 1, nameOfHandle(handle));
        at += nameOfHandle(handle).size();
    }
    if (step->kind == HostStepKind::Launch || step->kind == HostStepKind::Copy ||
        step->kind == HostStepKind::Record)
        what = fmt::format("in {}: {}", nameOfHandle(step->stream), what);
    return step->line == 0 ? what : fmt::format("{} (line {})", what, step->line);
}

} // namespace kernelskill::engine
