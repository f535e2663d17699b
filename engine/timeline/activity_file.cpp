#include "engine/timeline/activity_file.h"

#include "analysis/source/files.h"
#include "analysis/source/json.h"

#include <algorithm>
#include <string_view>

namespace kernelskill::engine {
namespace {

using nlohmann::json;

constexpr int version = 1;

std::string asLine(const json& document) {
    // A name in another encoding must not end the user's program.
    return document.dump(-1, ' ', true, json::error_handler_t::replace) + "\n";
}

constexpr std::string_view spellings[] = {"kernel", "copy", "set"};

DeviceActivity activityFrom(const json& line) {
    DeviceActivity activity;
    const auto kind = std::ranges::find(spellings, line.at("kind").get<std::string>());
    if (kind == std::end(spellings))
        throw json::other_error::create(501, "unknown kind", nullptr);
    activity.kind = static_cast<ActivityKind>(kind - std::begin(spellings));
    line.at("name").get_to(activity.name);
    line.at("begin").get_to(activity.begin);
    line.at("end").get_to(activity.end);
    line.at("device").get_to(activity.device);
    line.at("context").get_to(activity.context);
    line.at("stream").get_to(activity.stream);
    if (activity.kind == ActivityKind::Kernel) {
        line.at("grid").get_to(activity.grid);
        line.at("block").get_to(activity.block);
        line.at("registers").get_to(activity.registers);
        line.at("shared").get_to(activity.sharedBytes);
    } else {
        line.at("bytes").get_to(activity.bytes);
    }
    return activity;
}

void readLine(const json& line, ActivityFile& file) {
    if (line.contains("dropped"))
        file.dropped += line.at("dropped").get<std::uint64_t>();
    else if (line.contains("problem"))
        line.at("problem").get_to(file.problem);
    else
        file.activities.push_back(activityFrom(line));
}

} // namespace

std::string headLine() {
    return asLine({{"kernelskill-timeline", version}});
}

std::string lineOf(const DeviceActivity& activity) {
    json line{{"kind", spellings[static_cast<std::size_t>(activity.kind)]},
              {"name", activity.name},
              {"begin", activity.begin},
              {"end", activity.end},
              {"device", activity.device},
              {"context", activity.context},
              {"stream", activity.stream}};
    if (activity.kind == ActivityKind::Kernel) {
        line["grid"] = activity.grid;
        line["block"] = activity.block;
        line["registers"] = activity.registers;
        line["shared"] = activity.sharedBytes;
    } else {
        line["bytes"] = activity.bytes;
    }
    return asLine(line);
}

std::string droppedLine(std::uint64_t count) {
    return asLine({{"dropped", count}});
}

std::string problemLine(const std::string& problem) {
    return asLine({{"problem", problem}});
}

Result<ActivityFile> readActivities(const std::filesystem::path& path) {
    const auto text = analysis::readFile(path);
    if (!text || text->empty())
        return std::unexpected(Error{ErrorKind::Missing,
                                     "the program never started the CUDA driver",
                                     {},
                                     "run it on a machine with a GPU, and check that it uses it"});
    const auto foreign = [&](std::string what) {
        return std::unexpected(
            Error{ErrorKind::InvalidInput, std::move(what), path.string(), "record it again"});
    };
    ActivityFile file;
    std::size_t number = 0;
    std::string_view rest = *text;
    try {
        for (auto end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
            const auto line = json::parse(rest.substr(0, end));
            rest.remove_prefix(end + 1);
            ++number;
            // Child processes of the program record into the same file, each with its own head.
            if (line.contains("kernelskill-timeline")) {
                if (line.at("kernelskill-timeline") != version)
                    return foreign("a timeline of another version of KernelSkill");
            } else if (number == 1) {
                return foreign("not a timeline");
            } else {
                readLine(line, file);
            }
        }
    } catch (const json::exception&) {
        return foreign("line " + std::to_string(number + 1) + " is not a timeline's");
    }
    std::ranges::sort(file.activities, {}, &DeviceActivity::begin);
    return file;
}

} // namespace kernelskill::engine
