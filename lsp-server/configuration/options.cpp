#include "lsp-server/configuration/options.h"

#include <nlohmann/json.hpp>
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
        "gpu.enabled", &Options::gpuEnabled,
        "Measure on the GPU of this machine, where there is one: edits get a verdict of `faster`, "
        "`slower` or `inconclusive`. Off: the emulator alone."},
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
    OptionDescription{"codeLens.enabled", &Options::codeLensEnabled,
                      "Show over each kernel what holds it back."},
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

void collectNames(const json& value, const std::string& prefix, std::vector<std::string>& names) {
    if (!value.is_object()) {
        names.push_back(prefix);
        return;
    }
    for (const auto& [key, child] : value.items())
        collectNames(child, prefix.empty() ? key : prefix + "." + key, names);
}

json defaultOf(const OptionDescription& option) {
    const Options defaults;
    return std::visit([&](auto field) { return json(defaults.*field); }, option.field);
}

std::string_view typeOf(const OptionDescription& option) {
    constexpr std::array<std::string_view, 3> names{"boolean", "string", "array"};
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
            std::visit([&](auto field) { value->get_to(options.*field); }, option.field);
        } catch (const json::exception&) {
            problems.push_back(fmt::format("kernelskill.{} must be of type {}; it is ignored",
                                           option.name, typeOf(option)));
        }
    }
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
                      {"scope", "machine-overridable"}};
        if (typeOf(option) == "array")
            property["items"] = {{"type", "string"}};
        schema[fmt::format("kernelskill.{}", option.name)] = std::move(property);
    }
    return schema;
}

} // namespace kernelskill::lsp
