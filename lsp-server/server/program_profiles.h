/// The last profile of each of the user's programs, while the server runs.
#pragma once

#include "lsp-server/program/profiled_program.h"

#include <filesystem>
#include <map>
#include <memory>
#include <stop_token>
#include <string>

namespace kernelskill::lsp {

/// Belongs to the loop's thread; what it hands out may be used anywhere.
class ProgramProfiles {
public:
    using ByName = std::map<std::string, std::shared_ptr<const ProfiledProgram>>;

    /// Keeps the profile in place of the program's earlier one.
    void keep(std::shared_ptr<const ProfiledProgram> profiled);

    /// The last profiles of a workspace's programs.
    [[nodiscard]] ByName of(const std::filesystem::path& root) const;

    /// Returns the shares of the kernels of a file, whose path has no links, in the program that
    /// was profiled last of those that run them; null if none does.
    [[nodiscard]] std::shared_ptr<const KernelShares>
    sharesOf(const std::filesystem::path& file) const;

    /// Two runs beside each other would disturb each other's times. The user's own has precedence:
    /// it ends the workspace's run on save, and none begins while the result lives.
    [[nodiscard]] std::shared_ptr<const void> occupy(const std::filesystem::path& root);
    [[nodiscard]] bool isOccupied(const std::filesystem::path& root) const;
    /// `run` is the latest run on save.
    void startedOnSave(const std::filesystem::path& root, std::stop_source run);

private:
    struct Place {
        std::weak_ptr<const void> occupied;
        std::stop_source onSave;
    };

    std::map<std::filesystem::path, Place> places_;
    std::map<std::filesystem::path, ByName> roots_;
    std::map<std::filesystem::path, std::shared_ptr<const KernelShares>> files_;
};

} // namespace kernelskill::lsp
