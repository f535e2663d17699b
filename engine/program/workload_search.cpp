#include "engine/program/workload_search.h"

#include "engine/program/cmake_workloads.h"
#include "engine/program/make_workloads.h"
#include "engine/program/vscode_workloads.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>

namespace kernelskill::engine {
namespace {

bool isSameRun(const Workload& one, const Workload& other) {
    return one.folder == other.folder && one.command == other.command &&
           one.environment == other.environment;
}

bool isTaken(const std::vector<Workload>& workloads, const std::string& name) {
    return std::ranges::find(workloads, name, &Workload::name) != workloads.end();
}

void add(std::vector<Workload>& workloads, Workload workload) {
    if (std::ranges::any_of(workloads,
                            [&](const Workload& known) { return isSameRun(known, workload); }))
        return;
    if (isTaken(workloads, workload.name)) {
        const std::string name = fmt::format("{} ({})", workload.name, workload.origin);
        workload.name = name;
        for (int i = 2; isTaken(workloads, workload.name); ++i)
            workload.name = fmt::format("{} {}", name, i);
    }
    workloads.push_back(std::move(workload));
}

} // namespace

FoundWorkloads searchWorkloads(const std::vector<std::filesystem::path>& folders) {
    FoundWorkloads all;
    for (const auto& folder : folders) {
        for (const auto search : {vscodeWorkloads, makeWorkloads, cmakeWorkloads}) {
            FoundWorkloads found = search(folder);
            for (Workload& workload : found.workloads)
                add(all.workloads, std::move(workload));
            std::ranges::move(found.notes, std::back_inserter(all.notes));
        }
    }
    return all;
}

} // namespace kernelskill::engine
