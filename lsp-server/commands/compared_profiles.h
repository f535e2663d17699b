/// Reads and prints the profiles that a profile is compared with: stored ones, other kernels, and
/// reports of Nsight Compute.
#pragma once

#include "engine/workbench/kernel_report.h"
#include "lsp-server/report/profile_comparison.h"

#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::lsp {

/// The profile of a kernel as one of two sides.
[[nodiscard]] ProfileSide sideOf(const engine::KernelReport& report, const std::string& label);

/// The profiles in a file that `profile --json` wrote, of one kernel or of all. InvalidInput if it
/// cannot be read or is something else.
[[nodiscard]] Result<std::vector<ProfileSide>> readProfiles(const std::string& file);

/// The launches in a report of Nsight Compute; see importNsightReport().
[[nodiscard]] Result<std::vector<ProfileSide>> importProfiles(const std::string& report,
                                                              std::stop_token stop);

/// The first side of this kernel, whose name may be given without namespaces and arguments; nullptr
/// if there is none.
[[nodiscard]] const ProfileSide* sideNamed(const std::vector<ProfileSide>& sides,
                                           const std::string& kernel);

/// Prints both sides and a row for each metric that differs.
void printComparison(const ProfileSide& before, const ProfileSide& after);

/// Prints what a report of Nsight Compute holds: the metrics with a label, launch by launch.
void printImported(const std::vector<ProfileSide>& sides);
[[nodiscard]] nlohmann::json importedJson(const std::vector<ProfileSide>& sides);

} // namespace kernelskill::lsp
