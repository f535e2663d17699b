#include "engine/memory/short_term_memory.h"

#include "engine/memory/memory_entry.h"
#include "engine/process/file_descriptor.h"
#include "engine/storage/workspace_folder.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;

Error failure(std::string what, const fs::path& path, int code) {
    Error error{ErrorKind::Failed, fmt::format("{}: {}", what, std::strerror(code)), path.string(),
                ""};
    if (code == EROFS || code == EACCES || code == EPERM)
        error.remedy = "Make the workspace writable, or work without memory of past attempts";
    return error;
}

/// Makes the directory entry of a new file or folder durable.
void syncFolder(const fs::path& folder) {
    FileDescriptor handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (handle.isOpen())
        ::fsync(handle.get());
}

fs::path resolved(const fs::path& path) {
    std::error_code ignored;
    fs::path absolute = fs::absolute(path, ignored);
    fs::path canonical = fs::weakly_canonical(absolute, ignored);
    return (ignored ? absolute : canonical).lexically_normal();
}

bool isInside(const fs::path& path, const fs::path& folder) {
    auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
    return end == folder.end() || (std::next(end) == folder.end() && end->empty());
}

/// Creates the folders down to `folder`, which lies under `root`. A link that leads out of `root`
/// is refused, because a workspace must not redirect writes to other places.
Result<void> makeFolders(const fs::path& folder, const fs::path& root) {
    if (fs::path real = resolved(folder); !isInside(real, resolved(root)))
        return std::unexpected(Error{ErrorKind::Failed,
                                     "the memory folder is a link to a place outside the workspace",
                                     folder.string(), "Remove the link"});
    std::vector<fs::path> missing;
    std::error_code code;
    for (fs::path step = folder; !fs::exists(step, code) && step.has_relative_path();
         step = step.parent_path())
        missing.push_back(step);
    for (auto step = missing.rbegin(); step != missing.rend(); ++step) {
        if (::mkdir(step->c_str(), 0777) != 0 && errno != EEXIST)
            return std::unexpected(failure("the memory folder cannot be created", *step, errno));
        syncFolder(step->parent_path());
    }
    return {};
}

std::optional<std::string> readRange(int file, off_t begin, off_t end) {
    std::string text(static_cast<std::size_t>(end - begin), '\0');
    std::size_t done = 0;
    while (done < text.size()) {
        ssize_t got =
            ::pread(file, text.data() + done, text.size() - done, begin + static_cast<off_t>(done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return std::nullopt;
        done += static_cast<std::size_t>(got);
    }
    return text;
}

/// The start of the last line if it has no line end; nullopt if it has one.
Result<std::optional<off_t>> startOfOpenLine(int file, off_t size, const fs::path& path) {
    constexpr off_t step = 4096;
    for (off_t end = size; end > 0;) {
        off_t begin = std::max<off_t>(0, end - step);
        auto block = readRange(file, begin, end);
        if (!block)
            return std::unexpected(failure("the memory file cannot be read", path, errno));
        if (end == size && block->back() == '\n')
            return std::nullopt;
        if (auto newline = block->rfind('\n'); newline != std::string::npos)
            return begin + static_cast<off_t>(newline) + 1;
        end = begin;
    }
    return size == 0 ? std::nullopt : std::optional<off_t>(0);
}

/// Reads the lines of `path` that contain `needle` (all if empty) into `contents`.
Result<void> readInto(ShortTermMemory::Contents& contents, const fs::path& path, bool isOther,
                      const std::vector<std::uint64_t>& hashes) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream) {
        std::error_code code;
        if (!fs::exists(path, code) && !code)
            return {};
        return std::unexpected(failure("the memory file cannot be read", path, errno));
    }
    std::string line;
    for (std::size_t number = 1; std::getline(stream, line); ++number) {
        bool isComplete = !stream.eof();
        if (line.empty())
            continue;
        auto entry = parseEntry(line);
        if (entry) {
            bool isWanted =
                !isOther || std::ranges::find(hashes, entry->kernelHash) != hashes.end();
            if (isWanted)
                contents.entries.push_back(std::move(*entry));
        } else if (!isOther) {
            contents.problems.push_back(
                isComplete ? fmt::format("line {} is not an entry ({}) and was skipped", number,
                                         entry.error().what)
                           : fmt::format("line {} is cut short and was skipped", number));
        }
    }
    if (stream.bad())
        return std::unexpected(failure("the memory file cannot be read", path, errno));
    return {};
}

} // namespace

ShortTermMemory::ShortTermMemory(const fs::path& workspaceRoot, const fs::path& file) {
    fs::path realFile = resolved(file);
    fs::path root = resolved(workspaceRoot);
    if (workspaceRoot.empty() || !isInside(realFile, root) || realFile == root)
        root = realFile.parent_path();
    folder_ = root / ".kernelskill" / "memory";
    path_ = folder_ / realFile.lexically_relative(root);
    path_ += ".jsonl";
}

Result<void> ShortTermMemory::append(const MemoryEntry& entry) const {
    if (auto made = makeFolders(path_.parent_path(), folder_.parent_path().parent_path()); !made)
        return made;
    ignoreInGit(folder_.parent_path());
    std::error_code ignored;
    bool isNew = !fs::exists(path_, ignored);
    FileDescriptor file(
        ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (!file.isOpen())
        return std::unexpected(failure("the memory file cannot be written", path_, errno));
    while (::flock(file.get(), LOCK_EX) != 0) {
        if (errno != EINTR)
            return std::unexpected(failure("the memory file cannot be locked", path_, errno));
    }
    struct stat status{};
    if (::fstat(file.get(), &status) != 0)
        return std::unexpected(failure("the memory file cannot be read", path_, errno));

    std::string line = formatEntry(entry) + "\n";
    off_t size = status.st_size;
    auto openLine = startOfOpenLine(file.get(), size, path_);
    if (!openLine)
        return std::unexpected(openLine.error());
    if (*openLine) {
        // A crash between the object and its line end leaves a complete entry, which is kept. Only
        // incomplete ones are dropped.
        auto tail = readRange(file.get(), **openLine, size);
        if (tail && parseEntry(*tail)) {
            line.insert(line.begin(), '\n');
        } else {
            if (::ftruncate(file.get(), **openLine) != 0)
                return std::unexpected(failure("the memory file cannot be repaired", path_, errno));
            size = **openLine;
        }
    }

    ssize_t written = 0;
    do {
        written = ::write(file.get(), line.data(), line.size());
    } while (written < 0 && errno == EINTR);
    if (written != static_cast<ssize_t>(line.size())) {
        int code = written < 0 ? errno : ENOSPC;
        // A partial line must not spoil the next entry. If the truncation fails too, the next
        // append repairs it.
        [[maybe_unused]] int undone = ::ftruncate(file.get(), size);
        return std::unexpected(failure("the memory file cannot be written", path_, code));
    }
    if (::fsync(file.get()) != 0)
        return std::unexpected(failure("the memory file cannot be synced", path_, errno));
    if (isNew)
        syncFolder(path_.parent_path());
    return {};
}

Result<ShortTermMemory::Contents> ShortTermMemory::read() const {
    Contents contents;
    if (auto done = readInto(contents, path_, false, {}); !done)
        return std::unexpected(done.error());
    return contents;
}

Result<ShortTermMemory::Contents>
ShortTermMemory::readFollowing(const std::vector<std::uint64_t>& hashes) const {
    auto contents = read();
    if (!contents || hashes.empty())
        return contents;
    std::error_code code;
    std::vector<fs::path> others;
    fs::recursive_directory_iterator walk(folder_, fs::directory_options::skip_permission_denied,
                                          code);
    for (; !code && walk != fs::recursive_directory_iterator{}; walk.increment(code)) {
        const fs::path& candidate = walk->path();
        if (candidate != path_ && candidate.extension() == ".jsonl" && walk->is_regular_file(code))
            others.push_back(candidate);
    }
    std::ranges::sort(others);
    for (const fs::path& other : others) {
        if (auto done = readInto(*contents, other, true, hashes); !done)
            contents->problems.push_back(done.error().describe());
    }
    std::ranges::stable_sort(contents->entries, {}, &MemoryEntry::time);
    return contents;
}

std::string timestamp() {
    auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
    auto day = std::chrono::floor<std::chrono::days>(now);
    std::chrono::year_month_day date(day);
    std::chrono::hh_mm_ss clock(now - day);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                       clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                       clock.subseconds().count());
}

const MemoryEntry* lastFailure(const std::vector<MemoryEntry>& entries, std::uint64_t kernelHash,
                               std::string_view skill, int option) {
    auto isAbout = [&](const MemoryEntry& entry) {
        bool isFailure = entry.kind == EntryKind::Failure ||
                         (entry.kind == EntryKind::Verdict &&
                          (entry.status == spelling(VerdictStatus::Incorrect) ||
                           entry.status == spelling(VerdictStatus::Invalid)));
        return isFailure && entry.kernelHash == kernelHash && entry.skill == skill &&
               entry.option == option;
    };
    auto last = std::find_if(entries.rbegin(), entries.rend(), isAbout);
    return last == entries.rend() ? nullptr : &*last;
}

} // namespace kernelskill::engine
