/// Runs git, without its hooks, locks and file monitors.
#pragma once

#include "engine/process/child_process.h"

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// Whether git believes a repository that belongs to another user. It asks the user's settings,
/// which it does not get here.
enum class GitOwner : std::uint8_t { Checked, Believed };

/// Runs git in `folder`. Missing if there is no git; Failed if it takes longer than 20 s; Cancelled
/// on `stop`.
[[nodiscard]] Result<ChildOutcome> runGit(const std::filesystem::path& folder,
                                          std::vector<std::string> arguments, GitOwner owner,
                                          std::stop_token stop, std::string input = {});

} // namespace kernelskill::engine
