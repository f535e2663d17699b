#include "engine/capture/captured_launch.h"

#include "analysis/source/json.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>

namespace kernelskill::engine {
namespace {

using Json = nlohmann::json;

constexpr const char* format = "kernelskill-capture";
constexpr int version = 1;
constexpr std::size_t nameDigits = 32;
constexpr std::uint64_t maxBlockThreads = 1024;
/// CUDA's limit for the parameters of a launch.
constexpr std::size_t maxParameterBytes = 32764;

constexpr const char* digits = "0123456789abcdef";

std::string hexOf(const std::vector<std::byte>& bytes) {
    std::string text;
    for (const std::byte byte : bytes) {
        text += digits[std::to_integer<unsigned>(byte) >> 4];
        text += digits[std::to_integer<unsigned>(byte) & 15];
    }
    return text;
}

bool isHex(std::string_view text) {
    return text.find_first_not_of(digits) == std::string_view::npos;
}

/// An unusable manifest. Thrown and caught in this file, like exceptions of the JSON library.
struct Malformed {
    std::string what;
};

void expect(bool condition, const char* what) {
    if (!condition)
        throw Malformed{what};
}

std::vector<std::byte> bytesOf(const std::string& text) {
    expect(text.size() % 2 == 0 && isHex(text) && text.size() / 2 <= maxParameterBytes,
           "the value of a parameter is not written in hexadecimal digits");
    std::vector<std::byte> bytes;
    for (std::size_t at = 0; at < text.size(); at += 2) {
        const auto digit = [&](std::size_t place) {
            return std::string_view(digits).find(text[place]);
        };
        bytes.push_back(static_cast<std::byte>(digit(at) << 4 | digit(at + 1)));
    }
    return bytes;
}

/// Reads a whole number in [least, most].
std::uint64_t number(const Json& json, std::uint64_t least, std::uint64_t most, const char* what) {
    expect(json.is_number_unsigned(), what);
    const auto value = json.get<std::uint64_t>();
    expect(value >= least && value <= most, what);
    return value;
}

std::string nameFrom(const Json& json, const char* key) {
    if (!json.contains(key))
        return {};
    auto name = json.at(key).get<std::string>();
    expect(name.size() == nameDigits && isHex(name), "a data name is malformed");
    return name;
}

std::string textFrom(const Json& json, const char* key) {
    return json.contains(key) ? json.at(key).get<std::string>() : std::string();
}

std::array<std::uint32_t, 3> extentFrom(const Json& json, std::uint64_t most, const char* what) {
    expect(json.is_array() && json.size() == 3, what);
    std::array<std::uint32_t, 3> extent{};
    for (std::size_t axis = 0; axis < extent.size(); ++axis)
        extent[axis] = static_cast<std::uint32_t>(number(json[axis], 1, most, what));
    return extent;
}

void addIfThere(Json& json, const char* key, const std::string& text) {
    if (!text.empty())
        json[key] = text;
}

Json toJson(const CapturedParameter& parameter) {
    Json json{{"offset", parameter.offset}, {"value", hexOf(parameter.value)}};
    if (parameter.buffer) {
        Json& buffer = json["buffer"] = {{"address", parameter.buffer->address},
                                         {"bytes", parameter.buffer->bytes}};
        addIfThere(buffer, "before", parameter.buffer->before);
        addIfThere(buffer, "after", parameter.buffer->after);
        addIfThere(buffer, "missing", parameter.buffer->missing);
    }
    return json;
}

CapturedParameter parameterFrom(const Json& json) {
    constexpr auto any = std::numeric_limits<std::uint64_t>::max();
    CapturedParameter parameter;
    parameter.offset =
        number(json.at("offset"), 0, maxParameterBytes, "a parameter's offset is malformed");
    parameter.value = bytesOf(json.at("value").get<std::string>());
    if (!json.contains("buffer"))
        return parameter;
    expect(parameter.value.size() == sizeof(std::uint64_t), "a buffer without an address");
    const Json& buffer = json.at("buffer");
    CapturedBuffer& read = parameter.buffer.emplace();
    read.address = number(buffer.at("address"), 0, any, "a buffer's address is malformed");
    read.bytes = number(buffer.at("bytes"), 0, std::uint64_t{1} << 48, "a buffer of no size");
    read.before = nameFrom(buffer, "before");
    read.after = nameFrom(buffer, "after");
    read.missing = textFrom(buffer, "missing");
    expect(!read.before.empty() || !read.missing.empty(), "a buffer without data, and no reason");
    return parameter;
}

CapturedLaunch launchFrom(const Json& json) {
    expect(json.is_object() && json.contains("format") && json.at("format") == format,
           "it is not a capture");
    expect(json.at("version") == version, "it is of another version of KernelSkill");
    CapturedLaunch launch;
    launch.symbol = json.at("symbol").get<std::string>();
    expect(!launch.symbol.empty(), "the kernel has no name");
    launch.ordinal = static_cast<std::uint32_t>(number(json.at("launch"), 1,
                                                       std::numeric_limits<std::uint32_t>::max(),
                                                       "the launch has no number"));
    launch.program = textFrom(json, "program");
    launch.time = textFrom(json, "time");
    launch.device = textFrom(json, "device");
    launch.grid = extentFrom(json.at("grid"), 0x7fffffff, "the grid is malformed");
    launch.block = extentFrom(json.at("block"), maxBlockThreads, "the block is malformed");
    expect(std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2] <= maxBlockThreads,
           "a block of more than 1024 threads");
    launch.sharedBytes =
        number(json.at("sharedBytes"), 0, 1 << 30, "its shared memory is malformed");
    launch.missing = textFrom(json, "missing");
    for (const Json& parameter : json.at("parameters"))
        launch.parameters.push_back(parameterFrom(parameter));
    return launch;
}

/// The finaliser of SplitMix64.
std::uint64_t mixed(std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ull;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBull;
    return value ^ (value >> 31);
}

std::string hexOf(std::uint64_t first, std::uint64_t second) {
    std::string text;
    for (const std::uint64_t half : {first, second}) {
        for (int shift = 60; shift >= 0; shift -= 4)
            text += digits[half >> shift & 15];
    }
    return text;
}

} // namespace

std::string formatCapture(const CapturedLaunch& launch) {
    Json parameters = Json::array();
    for (const CapturedParameter& parameter : launch.parameters)
        parameters.push_back(toJson(parameter));
    Json json{{"format", format},
              {"version", version},
              {"symbol", launch.symbol},
              {"launch", launch.ordinal},
              {"program", launch.program},
              {"time", launch.time},
              {"device", launch.device},
              {"grid", launch.grid},
              {"block", launch.block},
              {"sharedBytes", launch.sharedBytes},
              {"parameters", std::move(parameters)}};
    addIfThere(json, "missing", launch.missing);
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<CapturedLaunch> parseCapture(std::string_view text) {
    const auto refused = [](const std::string& why) {
        return std::unexpected(Error{ErrorKind::InvalidInput,
                                     "this capture's manifest cannot be used: " + why,
                                     {},
                                     "capture the program again"});
    };
    try {
        // Recursive functions walk and destroy the values that are read from the text.
        constexpr int maxNesting = 64;
        return launchFrom(Json::parse(text, [](int depth, Json::parse_event_t, Json&) {
            if (depth > maxNesting)
                throw Malformed{"it is nested too deeply"};
            return true;
        }));
    } catch (const Malformed& malformed) {
        return refused(malformed.what);
    } catch (const Json::exception& problem) {
        return refused(problem.what());
    }
}

std::string dataName(const void* bytes, std::size_t count) {
    std::uint64_t first = 0x243F6A8885A308D3ull ^ count;
    std::uint64_t second = 0x13198A2E03707344ull + count;
    const auto* at = static_cast<const std::byte*>(bytes);
    const auto add = [&](std::uint64_t word) {
        first = std::rotl(first ^ word, 29) * 0x9E3779B97F4A7C15ull;
        second = std::rotl(second + word * 0xC2B2AE3D27D4EB4Full, 31) * 0x165667B19E3779F9ull;
    };
    for (; count >= sizeof(std::uint64_t); count -= sizeof(std::uint64_t), at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, at, sizeof word);
        add(word);
    }
    std::uint64_t rest = 0;
    if (count > 0)
        std::memcpy(&rest, at, count);
    add(rest);
    return hexOf(mixed(first + second), mixed(second ^ mixed(first)));
}

std::string manifestName(std::string_view symbol, std::uint32_t ordinal) {
    return dataName(symbol.data(), symbol.size()).substr(0, nameDigits / 2) + "-" +
           std::to_string(ordinal) + ".json";
}

} // namespace kernelskill::engine
