#include "lsp-server/configuration/options.h"

#include "analysis/source/json.h"
#include "engine/program/workload_json.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

constexpr std::array table{
    OptionDescription{
        "parse.cudaPath", &Options::cudaPath,
        "The CUDA toolkit whose headers are used. Empty: `$CUDA_HOME`, `$CUDA_PATH`, `nvcc` on "
        "the PATH, then `/usr/local/cuda`; without one, the built-in headers."},
    OptionDescription{"parse.ignoreToolkit", &Options::ignoreToolkit,
                      "Parse with the built-in CUDA headers even where a toolkit is installed."},
    OptionDescription{
        "parse.fallbackFlags", &Options::fallbackFlags,
        "Compiler flags (nvcc's or clang's) for files that no compile_commands.json or "
        "compile_flags.txt covers."},
    OptionDescription{
        "parse.compilationDatabase", &Options::compilationDatabase,
        "Folder of compile_commands.json. Empty: searched from the file's folder upwards."},
    OptionDescription{
        "execution.enabled", &Options::executionEnabled,
        "Allow kernels to be run, on the CPU emulator, to profile them and to verify edits. "
        "Off: no profiles and no verified edits."},
    OptionDescription{"execution.hostCompiler", &Options::hostCompiler,
                      "The C++ compiler that builds kernels for the emulator. Empty: "
                      "`$KERNELSKILL_HOST_CXX`, then `g++`, `c++`, `clang++` on the PATH."},
    OptionDescription{
        "profile.onSave", &Options::profileOnSave,
        "When a file is saved, profile the kernels that have changed: on the GPU of this machine "
        "where there is one, else on the emulator. Typing cancels it. Only in a workspace that "
        "the editor says you trust."},
    OptionDescription{
        "profile.programOnSave", &Options::profileProgramOnSave,
        "When a file is saved whose code has changed, build and run the workspace's program, and "
        "say which of its kernels became faster or slower. A later save ends it. Only in a "
        "workspace that the editor says you trust, with a GPU."},
    OptionDescription{
        "verify.onSave", &Options::verifyOnSave,
        "When a file is saved, verify kernels that differ from git's HEAD against it, as an edit "
        "of "
        "a skill is verified. Typing cancels it. Only in a workspace that the editor says you "
        "trust."},
    OptionDescription{
        "program", &Options::program,
        "The programs that run this workspace's kernels, by name: `{\"small\": {\"command\": "
        "\"./program 1024\", \"folder\": \".\", \"environment\": {}, \"build\": \"make\", "
        "\"check\": \"diff - expected.txt\", \"pattern\": \"^PASSED\"}}`. Only `command` is "
        "needed. "
        "Others are found in launch.json, makefiles and CMake projects."},
    OptionDescription{
        "gpu.enabled", &Options::gpuEnabled,
        "Measure on the GPU of this machine, where there is one: edits get a verdict of `faster`, "
        "`slower` or `inconclusive`. Off: the emulator alone."},
    OptionDescription{
        "gpu.on", &Options::gpuOn,
        "Where kernels are measured: `gpu`, on this machine, or `slurm`, on a node of a Slurm "
        "cluster, by `srun`."},
    OptionDescription{
        "gpu.computeSanitizer", &Options::gpuSanitizer,
        "Check edits on the GPU of this machine with NVIDIA's compute-sanitizer as well: memcheck, "
        "racecheck and synccheck on both kernels. An edit with a finding that the original lacks "
        "is `incorrect`. Reviews take several seconds longer."},
    OptionDescription{"slurm.partition", &Options::slurmPartition,
                      "The partition that is asked for GPUs. Empty: the cluster's default."},
    OptionDescription{
        "slurm.gres", &Options::slurmGres,
        "The resources of each job, as `srun --gres` writes them: `gpu:1`, `gpu:h100:1`. "
        "Where the cluster has several models, name one."},
    OptionDescription{
        "slurm.timeLimit", &Options::slurmTimeLimit,
        "Time limit of each job, as Slurm writes it: minutes, or hours:minutes:seconds. "
        "Time in the queue does not count."},
    OptionDescription{"slurm.account", &Options::slurmAccount,
                      "The account that pays. Empty: the user's default."},
    OptionDescription{"slurm.arguments", &Options::slurmArguments,
                      "More options for `srun`: `--constraint=...`, `--qos=...`, "
                      "`--immediate=60` to wait no longer than a minute in the queue, "
                      "`--bcast=/tmp/` where nodes do not share the file system.",
                      true},
    OptionDescription{"slurm.slots", &Options::slurmSlots,
                      "Max number of jobs side by side, each with a runner."},
    OptionDescription{"slurm.idleSeconds", &Options::slurmIdleSeconds,
                      "Seconds without work after which a job is given back to the cluster."},
    OptionDescription{
        "slurm.runner", &Options::slurmRunner,
        "Path of `kernelskill-runner` on the nodes. Empty: the same as on this machine.", true},
    OptionDescription{"slurm.srun", &Options::slurmSrun,
                      "The program `srun`. Empty: searched on the PATH.", true},
    OptionDescription{
        "estimates.gpu", &Options::gpu,
        "The GPU that the diagnosis, occupancy and the roofline are for where none is at hand: "
        "V100, T4, A100, A10, L4, RTX 3090, RTX 4090, RTX 5090, H100, H200, B200."},
    OptionDescription{"diagnostics.enabled", &Options::diagnosticsEnabled,
                      "Show diagnostics. Turn off if clangd already shows the compile errors."},
    OptionDescription{
        "diagnostics.hazards", &Options::hazardDiagnostics,
        "After a profile, show races, out-of-bounds accesses and other hazards as diagnostics."},
    OptionDescription{
        "inlayHints.enabled", &Options::inlayHintsEnabled,
        "Show sectors per request and bank conflicts at memory accesses that need more than "
        "the minimum."},
    OptionDescription{
        "codeLens.enabled", &Options::codeLensEnabled,
        "Show code lenses over each kernel: what holds it back, and what can be done."},
    OptionDescription{"preview.optimize", &Options::previewOptimize,
                      "Show what an optimisation found before it changes the text, to be accepted "
                      "or discarded. Off: it is applied at once."},
    OptionDescription{
        "preview.skills", &Options::previewSkills,
        "Show the edit of a skill that you apply, and a kernel that you generate, before it "
        "changes the text. Off: it is applied at once."},
    OptionDescription{
        "model.enabled", &Options::modelEnabled,
        "Let a language model propose kernels, beside the skills, while a kernel is optimised. The "
        "kernel's source and its measurements are sent to it. What it proposes is checked like any "
        "other edit. Never in a workspace that the editor does not say you trust.",
        true},
    OptionDescription{
        "model.provider", &Options::modelProvider,
        "`anthropic`, `openai` (also any server that speaks OpenAI's chat completions), or "
        "`editor`: the model that the editor offers, if it offers one.",
        true},
    OptionDescription{"model.endpoint", &Options::modelEndpoint,
                      "Address of the model, e.g. `http://localhost:8000/v1`. Empty: the "
                      "provider's own. `http` only on this machine, or without a key.",
                      true},
    OptionDescription{"model.name", &Options::modelName, "The model, as its provider calls it.",
                      true},
    OptionDescription{
        "model.apiKeyVariable", &Options::modelKeyVariable,
        "The environment variable that holds the key; keys are never in settings. Empty: "
        "`ANTHROPIC_API_KEY` or `OPENAI_API_KEY` at the provider's own endpoint, no key at "
        "another.",
        true},
    OptionDescription{"model.maxCalls", &Options::modelMaxCalls,
                      "Max requests to the model in one optimisation; 0: no limit.", true},
    OptionDescription{"model.maxTokens", &Options::modelMaxTokens,
                      "Max tokens of one optimisation, in and out; 0: no limit.", true},
    OptionDescription{
        "model.maxCost", &Options::modelMaxCost,
        "Max cost of one optimisation, in the currency of the prices below, which have to "
        "be set; 0: no limit.",
        true},
    OptionDescription{"model.inputPrice", &Options::modelInputPrice,
                      "Price of a million tokens that are sent to the model.", true},
    OptionDescription{"model.outputPrice", &Options::modelOutputPrice,
                      "Price of a million tokens that it answers with.", true},
};

const json* find(const json& section, std::string_view name) {
    const json* value = &section;
    while (!name.empty()) {
        const auto dot = std::min(name.find('.'), name.size());
        if (!value->is_object())
            return nullptr;
        const auto next = value->find(std::string(name.substr(0, dot)));
        if (next == value->end())
            return nullptr;
        value = &*next;
        name.remove_prefix(std::min(dot + 1, name.size()));
    }
    return value;
}

bool isObjectSetting(std::string_view name) {
    const auto option = std::ranges::find(table, name, &OptionDescription::name);
    return option != table.end() && std::holds_alternative<ObjectSetting Options::*>(option->field);
}

void collectNames(const json& value, const std::string& prefix, std::vector<std::string>& names) {
    if (!value.is_object() || isObjectSetting(prefix)) {
        names.push_back(prefix);
        return;
    }
    for (const auto& [key, child] : value.items())
        collectNames(child, prefix.empty() ? key : prefix + "." + key, names);
}

template <typename T>
json valueOf(const T& setting) {
    return setting;
}
json valueOf(const ObjectSetting& setting) {
    return json::parse(setting.text);
}

json defaultOf(const OptionDescription& option) {
    const Options defaults;
    return std::visit([&](auto field) { return valueOf(defaults.*field); }, option.field);
}

/// Sets a setting of the options. Throws json::exception for a value of another type.
template <typename T>
void setFrom(const json& value, T& setting) {
    value.get_to(setting);
}
void setFrom(const json& value, ObjectSetting& setting) {
    setting.text = value.get<json::object_t>().empty() ? "{}" : value.dump();
}

/// Adds what is wrong inside of settings that are objects.
void checkObjects(const Options& options, std::vector<std::string>& problems) {
    const auto programs = engine::readWorkloads(json::parse(options.program.text), "/", "settings");
    problems.insert(problems.end(), programs.notes.begin(), programs.notes.end());
}

std::string_view typeOf(const OptionDescription& option) {
    constexpr std::array<std::string_view, 5> names{"boolean", "string", "array", "number",
                                                    "object"};
    return names.at(option.field.index());
}

} // namespace

std::span<const OptionDescription> optionTable() {
    return table;
}

std::vector<std::string> readOptions(const json& section, Options& options) {
    std::vector<std::string> problems;
    for (const OptionDescription& option : table) {
        const json* value = find(section, option.name);
        if (value == nullptr || value->is_null())
            continue;
        try {
            std::visit([&](auto field) { setFrom(*value, options.*field); }, option.field);
        } catch (const json::exception&) {
            problems.push_back(fmt::format("kernelskill.{} must be of type {}; it is ignored",
                                           option.name, typeOf(option)));
        }
    }
    checkObjects(options, problems);
    std::vector<std::string> names;
    if (section.is_object())
        collectNames(section, "", names);
    for (const std::string& name : names) {
        if (std::ranges::find(table, name, &OptionDescription::name) == table.end())
            problems.push_back(fmt::format("kernelskill.{} is not a setting of this server", name));
    }
    return problems;
}

json configurationSchema() {
    json schema = json::object();
    for (const OptionDescription& option : table) {
        json property{{"type", typeOf(option)},
                      {"default", defaultOf(option)},
                      {"description", option.description},
                      {"scope", option.isUsersAlone ? "machine" : "machine-overridable"}};
        if (typeOf(option) == "array")
            property["items"] = {{"type", "string"}};
        if (typeOf(option) == "object")
            property["additionalProperties"] = {{"type", "object"}, {"required", {"command"}}};
        schema[fmt::format("kernelskill.{}", option.name)] = std::move(property);
    }
    return schema;
}

} // namespace kernelskill::lsp
