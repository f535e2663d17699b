#include "lsp-server/server/program_profiles.h"

#include <utility>

namespace kernelskill::lsp {

void ProgramProfiles::keep(std::shared_ptr<const ProfiledProgram> profiled) {
    auto& last = roots_[profiled->root][profiled->workload.name];
    if (last)
        for (const auto& [file, shares] : last->shares)
            if (const auto found = files_.find(file);
                found != files_.end() && found->second == shares)
                files_.erase(found);
    for (const auto& [file, shares] : profiled->shares)
        files_[file] = shares;
    last = std::move(profiled);
}

ProgramProfiles::ByName ProgramProfiles::of(const std::filesystem::path& root) const {
    const auto found = roots_.find(root);
    return found == roots_.end() ? ByName{} : found->second;
}

std::shared_ptr<const KernelShares>
ProgramProfiles::sharesOf(const std::filesystem::path& file) const {
    const auto found = files_.find(file);
    return found == files_.end() ? nullptr : found->second;
}

std::shared_ptr<const void> ProgramProfiles::occupy(const std::filesystem::path& root) {
    Place& place = places_[root];
    place.onSave.request_stop();
    auto token = place.occupied.lock(); // Several runs of the user's share it.
    if (!token)
        token = std::make_shared<int>();
    place.occupied = token;
    return token;
}

bool ProgramProfiles::isOccupied(const std::filesystem::path& root) const {
    const auto found = places_.find(root);
    return found != places_.end() && !found->second.occupied.expired();
}

void ProgramProfiles::startedOnSave(const std::filesystem::path& root, std::stop_source run) {
    places_[root].onSave = std::move(run);
}

} // namespace kernelskill::lsp
