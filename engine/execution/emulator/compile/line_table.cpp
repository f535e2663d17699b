#include "engine/execution/emulator/compile/line_table.h"

#include "engine/execution/emulator/compile/host_compiler.h"

#include <charconv>
#include <sstream>

namespace kernelskill::engine {
namespace {

constexpr std::uint64_t maxAddr2lineMemory = 4ULL << 30;

/// Reads "/@user/home/me/a.cu:12" or "… (discriminator 3)"; nullopt if the file is not the user's.
std::optional<SourcePlace> userPlace(const std::string& place) {
    const auto marker = place.find(userPathMarker);
    if (marker == std::string::npos)
        return std::nullopt;
    const auto path = place.substr(marker + userPathMarker.size());
    const auto colon = path.rfind(':');
    std::uint32_t line = 0;
    if (colon == std::string::npos ||
        std::from_chars(path.data() + colon + 1, path.data() + path.size(), line).ec !=
            std::errc{} ||
        line == 0)
        return std::nullopt;
    return SourcePlace{path.substr(0, colon), line - 1, {}};
}

} // namespace

Result<std::vector<SourcePlace>> resolvePlaces(const std::filesystem::path& sharedObject,
                                               std::span<const std::uint64_t> offsets,
                                               std::stop_token stop) {
    std::vector<SourcePlace> places;
    if (offsets.empty())
        return places;
    const auto program = findHostCompiler("addr2line");
    if (!program)
        return std::unexpected(
            Error{ErrorKind::Missing, "addr2line is not on PATH", {}, "install binutils"});
    ChildCommand command;
    command.program = *program;
    command.walls.emplace();
    command.walls->readable = systemFolders();
    command.walls->readable.push_back(sharedObject);
    command.walls->memoryBytes = maxAddr2lineMemory;
    command.walls->cpuTime = std::chrono::duration_cast<std::chrono::seconds>(command.time);
    command.arguments = {"-e", sharedObject.string(), "-a", "-i", "-f", "-C"};
    std::ostringstream input;
    for (const auto offset : offsets)
        input << "0x" << std::hex << offset << "\n";
    command.input = std::move(input).str();
    auto outcome = runChild(command, stop);
    if (!outcome)
        return std::unexpected(outcome.error());

    // An address line, then pairs of function and place, from the innermost inlined frame outwards.
    std::istringstream output(outcome->output);
    for (std::string line; std::getline(output, line);) {
        if (line.starts_with("0x")) {
            places.emplace_back();
            continue;
        }
        std::string place;
        if (!std::getline(output, place))
            break;
        if (places.empty() || !places.back().file.empty())
            continue;
        if (auto found = userPlace(place)) {
            found->function = line;
            places.back() = std::move(*found);
        }
    }
    if (places.size() != offsets.size())
        return std::unexpected(Error{ErrorKind::Failed,
                                     "addr2line did not answer for every address",
                                     sharedObject.string(),
                                     {}});
    return places;
}

} // namespace kernelskill::engine
