#include "engine/findings/measured_profiles.h"

#include "analysis/source/files.h"
#include "analysis/source/json.h"
#include "engine/execution/launch_json.h"
#include "engine/findings/profile_file.h"
#include "engine/memory/memory_entry.h"
#include "engine/storage/cache_files.h"
#include "engine/storage/text_hash.h"

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t maxKeptProfiles = 1024; // Each has about ten kilobytes.

ProfileKey onDevice(ProfileKey key, const std::string& device) {
    TextHash hash;
    hash.add(key.hash);
    hash.add(device);
    key.hash = hash.value();
    return key;
}

/// The file's name for a device. The UUID comes from a driver, so characters that could lead out of
/// the folder are dropped.
std::string fileName(const std::string& device) {
    TextHash hash;
    hash.add(device);
    return formatHash(hash.value()) + ".profile";
}

struct Aged {
    fs::file_time_type written;
    fs::path path;
};

std::vector<Aged> entriesOf(const fs::path& folder) {
    std::vector<Aged> entries;
    std::error_code error;
    for (fs::directory_iterator item(folder, error), end; !error && item != end;
         item.increment(error)) {
        std::error_code ignored;
        entries.push_back({item->last_write_time(ignored), item->path()});
    }
    return entries;
}

} // namespace

ProfileKey launchKey(ProfileKey key, const LaunchSpec& launch) {
    std::string bytes;
    nlohmann::json::to_cbor(wire::toJson(launch), bytes);
    TextHash hash;
    hash.add(key.hash);
    hash.add(bytes);
    for (const std::string& argument : launch.templateArguments)
        hash.add(argument);
    key.hash = hash.value();
    return key;
}

MeasuredProfiles::MeasuredProfiles(fs::path folder)
    : folder_(folder.empty() ? userCacheFolder("measured") : std::move(folder)) {}

fs::path MeasuredProfiles::folderOf(const ProfileKey& key) const {
    return folder_ / formatHash(key.hash);
}

KernelFindings MeasuredProfiles::read(const ProfileKey& key, const fs::path& file) {
    const auto bytes = analysis::readFile(file);
    auto kept = bytes ? decodeFindings(*bytes) : std::nullopt;
    if (!kept || !kept->findings.measurement)
        return {};
    // The cache moves the measured text's lines, as it does for profiles of this process.
    ProfileKey stored{key.hash, key.textHash, std::move(kept->places)};
    recent_.insert(onDevice(stored, kept->findings.measurement->device), kept->findings);
    recent_.insert(stored, std::move(kept->findings));
    return recent_.find(key);
}

KernelFindings MeasuredProfiles::find(const ProfileKey& key, const std::string& device) {
    if (!device.empty()) {
        if (auto known = recent_.find(onDevice(key, device)); known.profile)
            return known;
        if (auto known = read(key, folderOf(key) / fileName(device)); known.profile)
            return known;
    }
    if (auto known = recent_.find(key); known.profile)
        return known;
    const auto entries = entriesOf(folderOf(key));
    const auto latest = std::ranges::max_element(entries, {}, &Aged::written);
    return latest == entries.end() ? KernelFindings{} : read(key, latest->path);
}

KernelFindings MeasuredProfiles::findOwn(const ProfileKey& key, const std::string& device) {
    const ProfileKey own = onDevice(key, device);
    {
        const std::scoped_lock lock(mutex_);
        if (!own_.contains(own.hash))
            return {};
    }
    return recent_.find(own);
}

void MeasuredProfiles::insert(const ProfileKey& key, const KernelFindings& findings) {
    const std::string& device = findings.measurement->device;
    recent_.insert(onDevice(key, device), findings);
    {
        const std::scoped_lock lock(mutex_);
        own_.insert(onDevice(key, device).hash);
    }
    recent_.insert(key, findings);
    std::error_code ignored;
    fs::create_directories(folderOf(key), ignored);
    writeWhole(folderOf(key) / fileName(device), encodeFindings({findings, key.places}));
    evict();
}

void MeasuredProfiles::evict() const {
    auto entries = entriesOf(folder_);
    if (entries.size() <= maxKeptProfiles)
        return;
    std::ranges::sort(entries, {}, &Aged::written);
    std::error_code ignored;
    for (std::size_t i = 0; i + maxKeptProfiles < entries.size(); ++i)
        fs::remove_all(entries[i].path, ignored);
}

} // namespace kernelskill::engine
