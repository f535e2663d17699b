#include "engine/graph/choice/visible_gpu.h"

#include "engine/process/child_process.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <utility>
#include <vector>

namespace kernelskill::engine::graph {

namespace {

std::unexpected<Error> noGpu(const std::string& why) {
    return std::unexpected(Error{ErrorKind::Missing, "no GPU was found: " + why, "", ""});
}

/// The first line's fields, which commas and spaces separate.
std::vector<std::string> fieldsOf(const std::string& output) {
    std::vector<std::string> fields;
    const std::string line = output.substr(0, output.find('\n'));
    for (std::size_t begin = 0; begin <= line.size();) {
        const std::size_t end = std::min(line.find(", ", begin), line.size());
        fields.push_back(line.substr(begin, end - begin));
        begin = end + 2;
    }
    return fields;
}

/// 0 where nvidia-smi says that it does not know, as "[N/A]".
std::uint32_t numberOf(const std::string& field) {
    std::uint32_t number = 0;
    std::from_chars(field.data(), field.data() + field.size(), number);
    return number;
}

} // namespace

Result<VisibleGpu> visibleGpu(const std::filesystem::path& nvidiaSmi,
                              const std::optional<std::string>& visible, std::stop_token stop) {
    ChildCommand command;
    command.program = nvidiaSmi;
    command.arguments = {"--query-gpu=name,compute_cap,driver_version,clocks.current.sm",
                         "--format=csv,noheader,nounits"};
    command.time = std::chrono::milliseconds(15'000);
    if (visible) {
        const std::string first = visible->substr(0, visible->find(','));
        if (first.empty())
            return noGpu("CUDA_VISIBLE_DEVICES names none");
        command.arguments.push_back("--id=" + first);
    }
    const auto outcome = runChild(command, std::move(stop));
    if (!outcome && outcome.error().kind == ErrorKind::Cancelled)
        return std::unexpected(outcome.error());
    if (!outcome)
        return noGpu(outcome.error().what);
    const std::vector<std::string> fields = fieldsOf(outcome->output);
    if (outcome->status != 0 || fields.size() != 4)
        return noGpu("nvidia-smi names none");
    std::string digits = fields[1];
    std::erase(digits, '.');
    return VisibleGpu{fields[0], "sm_" + digits, fields[2], numberOf(fields[3])};
}

std::optional<std::string> visibleDevices() {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    return visible == nullptr ? std::nullopt : std::optional<std::string>(visible);
}

} // namespace kernelskill::engine::graph
