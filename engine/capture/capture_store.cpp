#include "engine/capture/capture_store.h"

#include "analysis/source/files.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t maxManifestBytes = 1 << 20;

std::vector<fs::path> filesIn(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        if (at->is_regular_file(error))
            files.push_back(at->path());
    }
    std::ranges::sort(files);
    return files;
}

Error unusable(std::string what, const fs::path& file) {
    return {ErrorKind::InvalidInput, "a capture is ignored: " + std::move(what), file.string(),
            "capture the program again"};
}

/// Replaces the name of data by its path. Returns whether the file has the buffer's length.
bool locate(std::string& name, const fs::path& folder, std::uint64_t bytes) {
    if (name.empty())
        return true;
    const fs::path file = folder / dataFolder / name;
    std::error_code error;
    const auto size = fs::file_size(file, error);
    name = file.string();
    return !error && size == bytes;
}

Result<StoredLaunch> readLaunch(const fs::path& folder, const fs::path& manifest) {
    std::error_code error;
    if (fs::file_size(manifest, error) > maxManifestBytes || error)
        return std::unexpected(unusable("the manifest is too large", manifest));
    const auto text = analysis::readFile(manifest);
    if (!text)
        return std::unexpected(unusable("it cannot be read", manifest));
    auto launch = parseCapture(*text);
    if (!launch)
        return std::unexpected(unusable(launch.error().what, manifest));
    for (CapturedParameter& parameter : launch->parameters) {
        if (!parameter.buffer)
            continue;
        CapturedBuffer& buffer = *parameter.buffer;
        if (!locate(buffer.before, folder, buffer.bytes) ||
            !locate(buffer.after, folder, buffer.bytes))
            return std::unexpected(unusable("its data is missing or truncated", manifest));
    }
    auto symbol = kernelSymbol(launch->symbol);
    return StoredLaunch{std::move(*launch), std::move(symbol), manifest};
}

std::set<std::string> namedData(const StoredCaptures& captures) {
    std::set<std::string> names;
    for (const StoredLaunch& stored : captures.launches) {
        for (const CapturedParameter& parameter : stored.launch.parameters) {
            if (!parameter.buffer)
                continue;
            for (const auto* path : {&parameter.buffer->before, &parameter.buffer->after})
                names.insert(fs::path(*path).filename());
        }
    }
    return names;
}

Error failure(const char* what, const fs::path& place, const std::error_code& error) {
    return {ErrorKind::Failed, std::string(what) + ": " + error.message(), place.string(), {}};
}

} // namespace

std::vector<const StoredLaunch*> StoredCaptures::of(const analysis::KernelModel& kernel) const {
    std::vector<const StoredLaunch*> found;
    for (const StoredLaunch& launch : launches) {
        if (names(launch.kernel, kernel))
            found.push_back(&launch);
    }
    return found;
}

StoredCaptures readCaptures(const fs::path& folder) {
    StoredCaptures captures;
    for (const fs::path& file : filesIn(folder / manifestFolder)) {
        if (file.extension() != ".json")
            continue;
        auto launch = readLaunch(folder, file);
        if (launch)
            captures.launches.push_back(std::move(*launch));
        else
            captures.problems.push_back(std::move(launch.error()));
    }
    std::ranges::sort(captures.launches, {}, [](const StoredLaunch& stored) {
        return std::tie(stored.launch.symbol, stored.launch.ordinal);
    });
    return captures;
}

std::shared_ptr<const StoredCaptures> CaptureStore::captures() const {
    std::error_code error;
    // If there is no folder, this is the minimum time.
    const auto changed = fs::last_write_time(folder_ / manifestFolder, error);
    const std::scoped_lock lock(mutex_);
    if (!known_ || changed != changed_) {
        StoredCaptures read = error ? StoredCaptures{} : readCaptures(folder_);
        std::ranges::stable_partition(read.launches, [&](const StoredLaunch& stored) {
            return stored.launch.symbol == first_;
        });
        known_ = std::make_shared<const StoredCaptures>(std::move(read));
        changed_ = changed;
    }
    return known_;
}

std::shared_ptr<const StoredCaptures> capturesOf(const std::shared_ptr<const CaptureStore>& store) {
    static const auto none = std::make_shared<const StoredCaptures>();
    return store ? store->captures() : none;
}

Result<StoredCaptures> adoptCaptures(const fs::path& folder, const fs::path& incoming) {
    StoredCaptures added = readCaptures(incoming);
    std::error_code error;
    for (const char* name : {manifestFolder, dataFolder}) {
        fs::create_directories(folder / name, error);
        if (error)
            return std::unexpected(failure("the captures cannot be kept", folder / name, error));
    }
    if (const auto ignored = folder / ".gitignore"; !analysis::isFile(ignored))
        std::ofstream(ignored) << "*\n"; // Keeps the user's data out of the repository.
    // Data first: a manifest never names missing data.
    const auto take = [&](std::string& path) {
        const auto place = folder / dataFolder / fs::path(path).filename();
        if (!analysis::isFile(place))
            fs::rename(path, place, error);
        path = place.string();
        return !error;
    };
    for (StoredLaunch& stored : added.launches) {
        for (CapturedParameter& parameter : stored.launch.parameters) {
            if (!parameter.buffer)
                continue;
            for (auto* path : {&parameter.buffer->before, &parameter.buffer->after}) {
                if (!path->empty() && !take(*path))
                    return std::unexpected(failure("captured data cannot be kept", *path, error));
            }
        }
    }
    for (const StoredLaunch& old : readCaptures(folder).launches) {
        if (std::ranges::any_of(added.launches, [&](const StoredLaunch& stored) {
                return stored.launch.symbol == old.launch.symbol;
            }))
            fs::remove(old.manifest, error);
    }
    for (StoredLaunch& stored : added.launches) {
        const auto place = folder / manifestFolder / stored.manifest.filename();
        fs::rename(stored.manifest, place, error);
        if (error)
            return std::unexpected(failure("a manifest cannot be kept", place, error));
        stored.manifest = place;
    }
    const auto wanted = namedData(readCaptures(folder));
    for (const fs::path& file : filesIn(folder / dataFolder)) {
        if (!wanted.contains(file.filename()))
            fs::remove(file, error);
    }
    fs::remove_all(incoming, error);
    return added;
}

Result<std::size_t> clearCaptures(const fs::path& folder) {
    const std::size_t count = filesIn(folder / manifestFolder).size();
    std::error_code error;
    fs::remove_all(folder, error);
    if (error)
        return std::unexpected(failure("the captures cannot be removed", folder, error));
    return count;
}

} // namespace kernelskill::engine
