#include "analysis/source/json.h"
#include "analysis/source/program_search.h"
#include "engine/execution/gpu/slurm_health.h"
#include "engine/graph/operators.h"
#include "engine/graph/reference/torch_reference.h"
#include "engine/process/walls.h"
#include "lsp-server/commands/command_line.h"
#include "lsp-server/commands/model_flags.h"
#include "lsp-server/commands/terminal.h"
#include "lsp-server/configuration/model_options.h"
#include "lsp-server/report/json_report.h"
#include "lsp-server/workspace/ownership.h"
#include "lsp-server/workspace/skill_folders.h"
#include "lsp-server/workspace/workspace.h"
#include "lsp-server/workspace/workspace_root.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stop_token>
#include <unistd.h>

namespace kernelskill::lsp {

namespace {

enum class Health : std::uint8_t { Ok, Absent, Broken };

struct HealthCheck {
    std::string name;
    Health health = Health::Ok;
    std::string detail;
    std::string remedy;
};

/// Absent things make the product better and are not needed; broken ones are.
std::string_view spelling(Health health) {
    switch (health) {
    case Health::Ok:
        return "ok";
    case Health::Absent:
        return "absent";
    case Health::Broken:
        break;
    }
    return "broken";
}

constexpr const char* sample = "__global__ void twice(const float* in, float* out, int n) {\n"
                               "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "    if (i < n)\n"
                               "        out[i] = 2.0f * in[i];\n"
                               "}\n"
                               "void launch(const float* in, float* out) {\n"
                               "    twice<<<2, 64>>>(in, out, 100);\n"
                               "}\n";

HealthCheck broken(std::string name, const Error& error) {
    return {std::move(name), Health::Broken, error.what, error.remedy};
}

HealthCheck checkWritable(std::string name, const std::filesystem::path& folder,
                          std::string remedy) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    const auto probe = folder / fmt::format(".kernelskill-probe-{}", ::getpid());
    const bool isWritable = static_cast<bool>(std::ofstream(probe) << "probe");
    std::filesystem::remove(probe, error);
    if (isWritable)
        return {std::move(name), Health::Ok, folder.string(), ""};
    return {std::move(name), Health::Broken, folder.string() + " cannot be written",
            std::move(remedy)};
}

std::filesystem::path cacheDirectory() {
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0')
        return std::filesystem::path(cache) / "kernelskill";
    if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
        return std::filesystem::path(home) / ".cache" / "kernelskill";
    return std::filesystem::temp_directory_path() / "kernelskill";
}

HealthCheck checkToolkit(const analysis::Toolchain& toolchain) {
    if (!toolchain.toolkit)
        return {"cuda-toolkit", Health::Absent, "none found; the built-in headers are used",
                "not needed; set $CUDA_HOME or kernelskill.parse.cudaPath to use one"};
    const int version = toolchain.toolkit->version;
    return {"cuda-toolkit", Health::Ok,
            fmt::format("{} (CUDA {}.{})", toolchain.toolkit->root.string(), version / 1000,
                        version % 1000 / 10),
            ""};
}

/// The GPU itself, then whether its counters may be read.
std::vector<HealthCheck> checkGpu(const engine::Workbench& workbench) {
    const auto gpu = workbench.machines().gpu();
    if (!gpu)
        return {{"gpu", Health::Absent, gpu.error().what,
                 "not needed; with one, edits are timed: " + gpu.error().remedy}};
    const auto& device = (*gpu)->device();
    std::vector<HealthCheck> checks{
        {"gpu", Health::Ok,
         fmt::format("{} ({}, driver for CUDA {}.{}), {} in all", device.name,
                     (*gpu)->architecture(), device.driverVersion / 1000,
                     device.driverVersion % 1000 / 10, device.devices),
         ""}};
    if (const auto& problem = device.profilerProblem)
        checks.push_back(
            {"gpu-counters", Health::Absent, problem->what,
             "without them profiles on the GPU hold times and the emulator's counts: " +
                 problem->remedy});
    else
        checks.push_back({"gpu-counters", Health::Ok, "can be read", ""});
    return checks;
}

/// LibTorch, against which PyTorch programs are checked.
HealthCheck checkTorch(const engine::Workbench& workbench) {
    engine::graph::TorchVersionRequest request;
    for (const engine::graph::Operator& known : engine::graph::knownOperators())
        request.operators.emplace_back(known.target);
    const auto torch = workbench.torch().version(request);
    if (!torch)
        return {"libtorch", Health::Absent, torch.error().what,
                "not needed; with it, PyTorch programs are checked: " + torch.error().remedy};
    std::string detail = fmt::format("LibTorch {} on the CPU", torch->version);
    if (!torch->devices.empty())
        detail += fmt::format(" and on {}", fmt::join(torch->devices, ", "));
    else if (torch->isBuiltWithCuda)
        detail += ", which sees no GPU";
    for (const auto& [target, reason] : torch->lacking)
        detail += "; " + reason;
    return {"libtorch", Health::Ok, std::move(detail), ""};
}

/// Checks the Slurm cluster that the user measures on, or could. No job is asked for: queues may be
/// long.
std::vector<HealthCheck> checkSlurm(const Options& options) {
    const bool isWanted = options.gpuOn == "slurm";
    const auto health = engine::gpu::slurmHealth(slurmJob(options), {});
    if (health)
        return {{"slurm", Health::Ok, health->version + ": " + health->partitions,
                 isWanted ? "" : "not used; set kernelskill.gpu.on, or use --on slurm"}};
    const bool hasSrun =
        analysis::findProgram(options.slurmSrun.empty() ? "srun" : options.slurmSrun).has_value();
    if (isWanted)
        return {broken("slurm", health.error())};
    if (!hasSrun)
        return {};
    return {{"slurm", Health::Absent, health.error().what,
             "not needed; to measure on a cluster: " + health.error().remedy}};
}

/// Connects to the endpoint of a model that is turned on; asks it nothing, which costs nothing.
HealthCheck checkLanguageModel(const Options& options) {
    constexpr std::chrono::seconds time{5};
    const auto settings = modelSettings(options, true);
    if (!settings)
        return broken("language-model", settings.error());
    if (!settings->isEnabled)
        return {"language-model", Health::Absent, "off",
                "not needed; kernelskill.model.enabled or --model lets one propose kernels"};
    const auto found = engine::probeLanguageModel(*settings, time, {});
    return found ? HealthCheck{"language-model", Health::Ok, *found, ""}
                 : broken("language-model", found.error());
}

/// The walls around compilers, which a container or an old system may lack.
HealthCheck checkWalls() {
    const engine::WallsOnOffer offer = engine::wallsOnOffer();
    const std::string limits = "limits on memory, time and files";
    if (offer.landlock > 0 && offer.seccomp)
        return {
            "compiler-walls", Health::Ok,
            fmt::format("files (Landlock {}), system calls (seccomp), {}", offer.landlock, limits),
            ""};
    return {
        "compiler-walls", Health::Absent,
        fmt::format("{}{}{}", limits, offer.seccomp ? ", system calls (seccomp)" : "",
                    offer.landlock > 0 ? ", files (Landlock)" : ""),
        "not needed; Linux 5.13 or newer with Landlock keeps compilers of untrusted kernels from "
        "your files"};
}

HealthCheck checkCompilationDatabase(const Options& options) {
    const auto here = std::filesystem::current_path() / "doctor.cu";
    const analysis::CompileCommands commands(options.fallbackFlags, options.compilationDatabase,
                                             isOwn);
    const auto command = commands.commandFor(here, workspaceRootOf(here));
    if (!command)
        return broken("compilation-database", command.error());
    if (command->origin == analysis::CommandOrigin::Inferred)
        return {"compilation-database", Health::Absent,
                "no compile_commands.json or compile_flags.txt here; flags are inferred",
                "not needed; CMake writes one with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON"};
    return {"compilation-database", Health::Ok, command->originPath, ""};
}

/// Parses, compiles, runs in the sandbox and counts: everything a profile needs.
std::vector<HealthCheck> checkPipeline(const engine::Workbench& workbench) {
    std::vector<HealthCheck> checks;
    const auto file = std::filesystem::temp_directory_path() / "kernelskill-doctor.cu";
    engine::ProgramSource program;
    program.file = file.string();
    program.text = sample;
    program.command = analysis::translateArguments({}, file.parent_path());
    auto model = analysis::analyzeFile(file, program.text, program.command, workbench.toolchain());
    if (!model) {
        checks.push_back(broken("libclang", model.error()));
        return checks;
    }
    const bool parses = model->kernels.size() == 1 && model->diagnostics.empty();
    checks.push_back(parses ? HealthCheck{"libclang", Health::Ok, "parses CUDA", ""}
                            : HealthCheck{"libclang", Health::Broken,
                                          model->diagnostics.empty()
                                              ? std::string("does not see the kernel of a sample")
                                              : model->diagnostics.front().message,
                                          "install libclang 22 with its built-in headers"});
    const auto executor = workbench.machines().emulator();
    if (!executor) {
        checks.push_back(broken("host-compiler", executor.error()));
        return checks;
    }
    checks.push_back({"host-compiler", Health::Ok, "found", ""});
    if (!parses)
        return checks;
    program.model = std::make_shared<const analysis::FileModel>(std::move(*model));
    const auto report = workbench.profiler().profile({program, program.model->kernels.front()},
                                                     std::stop_token{}, {});
    checks.push_back(report ? HealthCheck{"emulator", Health::Ok,
                                          "compiles and runs a sample kernel in its sandbox", ""}
                            : broken("emulator", report.error()));
    return checks;
}

std::vector<HealthCheck> examine(const Options& options) {
    std::vector<HealthCheck> checks;
    const auto workbench = makeWorkbench(options, skillFoldersOfCommand(currentWorkspaceRoot()));
    if (workbench) {
        const analysis::Toolchain& toolchain = (*workbench)->toolchain();
        checks.push_back({"prelude", Health::Ok, toolchain.preludeInclude.string(), ""});
        checks.push_back({"clang-headers", Health::Ok, toolchain.clangResourceDir.string(), ""});
        checks.push_back(checkToolkit(toolchain));
        checks.push_back(checkWalls());
        std::ranges::move(checkPipeline(**workbench), std::back_inserter(checks));
        if (options.gpuOn != "slurm")
            std::ranges::move(checkGpu(**workbench), std::back_inserter(checks));
        std::ranges::move(checkSlurm(options), std::back_inserter(checks));
        checks.push_back(checkTorch(**workbench));
        const std::size_t count = (*workbench)->library().documents.size();
        checks.push_back(
            count > 0 ? HealthCheck{"skills", Health::Ok, fmt::format("{} loaded", count), ""}
                      : HealthCheck{"skills", Health::Broken, "none loaded",
                                    "install share/kernelskill/skills beside the program"});
        for (const Error& error : (*workbench)->library().errors)
            checks.push_back(broken("skills", error));
    } else {
        checks.push_back(broken("installation", workbench.error()));
    }
    checks.push_back(checkWritable("cache", cacheDirectory(),
                                   "set $XDG_CACHE_HOME to a folder that can be written"));
    const auto here = std::filesystem::current_path();
    checks.push_back(::access(here.c_str(), W_OK) == 0
                         ? HealthCheck{"workspace", Health::Ok, here.string(), ""}
                         : HealthCheck{"workspace", Health::Absent,
                                       here.string() + " is read-only: nothing is remembered",
                                       "make it writable to keep .kernelskill/memory"});
    checks.push_back(checkCompilationDatabase(options));
    checks.push_back(checkLanguageModel(options));
    return checks;
}

void print(const std::vector<HealthCheck>& checks) {
    const Terminal terminal(stdout);
    std::size_t width = 0;
    for (const HealthCheck& check : checks)
        width = std::max(width, check.name.size());
    for (const HealthCheck& check : checks) {
        const Colour colour = check.health == Health::Ok       ? Colour::Green
                              : check.health == Health::Absent ? Colour::Yellow
                                                               : Colour::Red;
        fmt::print("{}  {:{}}  {}\n",
                   terminal.paint(colour, fmt::format("{:<6}", spelling(check.health))), check.name,
                   width, check.detail);
        if (!check.remedy.empty())
            fmt::print("{:8}{:{}}  {}\n", "", "", width,
                       terminal.paint(Colour::Dim, "→ " + check.remedy));
    }
}

int runDoctor(const Invocation& invocation) {
    const std::vector<HealthCheck> checks = examine(invocation.options);
    if (invocation.json) {
        nlohmann::json list = nlohmann::json::array();
        for (const HealthCheck& check : checks)
            list.push_back({{"name", check.name},
                            {"status", spelling(check.health)},
                            {"detail", check.detail},
                            {"remedy", check.remedy}});
        printJson({{"checks", std::move(list)}});
    } else {
        print(checks);
    }
    const bool isBroken = std::ranges::any_of(
        checks, [](const HealthCheck& check) { return check.health == Health::Broken; });
    return isBroken ? exitMissing : exitDone;
}

} // namespace

void addDoctorCommand(CliCommand& program, Invocation& invocation) {
    CliCommand& command =
        program.add("doctor", "Show what this machine has and lacks, with remedies");
    command.footer("\nok: works. absent: not needed, but would help. broken: something will not "
                   "work (exit status 3).");
    addJsonFlag(command, invocation);
    addModelFlags(command, invocation.options);
    command.whenChosen(
        [&invocation] { invocation.run = [&invocation] { return runDoctor(invocation); }; });
}

} // namespace kernelskill::lsp
