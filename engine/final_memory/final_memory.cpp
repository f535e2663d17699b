#include "engine/final_memory/final_memory.h"

#include "analysis/source/files.h"
#include "analysis/source/json.h"
#include "analysis/source/try.h"
#include "engine/storage/json_lines.h"

#include <algorithm>
#include <system_error>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::string_view listPrefix = "buffers-";
constexpr std::string_view contentsPrefix = "contents-";
constexpr const char* kind = "kernelskill-final-memory";
constexpr int version = 1;

fs::path fileOf(const fs::path& folder, std::string_view prefix, std::string_view process) {
    return folder / (std::string(prefix) + std::string(process));
}

Error damaged(const fs::path& list) {
    return {ErrorKind::InvalidInput, "not a list of a program's buffers", list.string(), {}};
}

FinalBuffer bufferFrom(const Json& json) {
    FinalBuffer buffer;
    json.at("number").get_to(buffer.number);
    json.at("address").get_to(buffer.address);
    json.at("bytes").get_to(buffer.bytes);
    if (const Json& offset = json.at("offset"); !offset.is_null())
        buffer.offset = offset.get<std::uint64_t>();
    json.at("why").get_to(buffer.why);
    for (const Json& use : json.at("uses"))
        buffer.uses.push_back({use.at(0).get<std::string>(), use.at(1).get<std::uint32_t>()});
    return buffer;
}

/// Whether the buffer's contents are in a file of that size.
bool isIn(const FinalBuffer& buffer, std::uint64_t size) {
    return !buffer.offset || (*buffer.offset <= size && buffer.bytes <= size - *buffer.offset);
}

Result<FinalMemory> readList(const fs::path& list) {
    const auto text = analysis::readFile(list);
    if (!text)
        return std::unexpected(damaged(list));
    const std::string process = list.filename().string().substr(listPrefix.size());
    const fs::path contents = fileOf(list.parent_path(), contentsPrefix, process);
    std::error_code error;
    const auto size = fs::file_size(contents, error);
    KERNELSKILL_TRY(auto memory, parseBufferList(*text, error ? 0 : size, list));
    memory.contents = contents;
    return memory;
}

} // namespace

std::string formatFinalMemoryTarget(const FinalMemoryTarget& target) {
    return Json{
        {"folder", target.folder}, {"cupti", target.cupti}, {"totalBytes", target.totalBytes}}
        .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<FinalMemoryTarget> parseFinalMemoryTarget(std::string_view text) {
    try {
        const Json json = Json::parse(text);
        FinalMemoryTarget target;
        json.at("folder").get_to(target.folder);
        json.at("cupti").get_to(target.cupti);
        json.at("totalBytes").get_to(target.totalBytes);
        return target;
    } catch (const Json::exception& problem) {
        return std::unexpected(Error{ErrorKind::InvalidInput, problem.what(), finalMemoryVariable,
                                     "start the program by `kernelskill optimize`"});
    }
}

fs::path bufferListFile(const fs::path& folder, std::int64_t process) {
    return fileOf(folder, listPrefix, std::to_string(process));
}

fs::path bufferContentsFile(const fs::path& folder, std::int64_t process) {
    return fileOf(folder, contentsPrefix, std::to_string(process));
}

std::string bufferListHead() {
    return jsonLinesHead(kind, version);
}

std::string lineOf(const FinalBuffer& buffer) {
    Json uses = Json::array();
    for (const BufferUse& use : buffer.uses)
        uses.push_back({use.symbol, use.parameter});
    return jsonLine({{"number", buffer.number},
                     {"address", buffer.address},
                     {"bytes", buffer.bytes},
                     {"offset", buffer.offset ? Json(*buffer.offset) : Json(nullptr)},
                     {"why", buffer.why},
                     {"uses", std::move(uses)}});
}

std::string bufferListEnd() {
    return jsonLine({{"end", true}});
}

Result<FinalMemory> parseBufferList(std::string_view text, std::uint64_t size,
                                    const fs::path& list) {
    FinalMemory memory;
    const bool isRead = readJsonLines(text, kind, version, [&](const Json& line) {
        if (line.contains("end")) {
            memory.isComplete = true;
            return true;
        }
        memory.buffers.push_back(bufferFrom(line));
        return isIn(memory.buffers.back(), size);
    });
    if (!isRead)
        return std::unexpected(damaged(list));
    std::ranges::sort(memory.buffers, {}, &FinalBuffer::number);
    return memory;
}

Result<FinalMemory> readFinalMemory(const fs::path& folder) {
    std::optional<FinalMemory> found;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        if (!at->path().filename().string().starts_with(listPrefix))
            continue;
        KERNELSKILL_TRY(auto memory, readList(at->path()));
        if (memory.buffers.empty())
            continue;
        if (found)
            return std::unexpected(
                Error{ErrorKind::Unsupported, "several of its processes use the GPU", {}, {}});
        found = std::move(memory);
    }
    if (!found)
        return std::unexpected(
            Error{ErrorKind::Missing, "no buffer on the GPU was recorded", {}, {}});
    return *std::move(found);
}

} // namespace kernelskill::engine
