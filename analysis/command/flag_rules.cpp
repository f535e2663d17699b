#include "analysis/command/flag_rules.h"

#include <algorithm>
#include <array>

namespace kernelskill::analysis {

namespace {

std::string_view withoutDashes(std::string_view flag) {
    while (flag.starts_with('-'))
        flag.remove_prefix(1);
    return flag;
}

bool isDigit(char c) {
    return c >= '0' && c <= '9';
}

bool isLetterOrDigit(char c) {
    return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

template <std::size_t count>
bool beginsWithAny(std::string_view text, const std::array<std::string_view, count>& begins) {
    return std::ranges::any_of(begins,
                               [&](std::string_view begin) { return text.starts_with(begin); });
}

/// Beginnings of options, without dashes, that name a program, a plug-in, or a file with options.
constexpr auto running = std::to_array<std::string_view>({"ccbin",
                                                          "compiler-bindir",
                                                          "fplugin",
                                                          "fpass-plugin",
                                                          "iplugindir",
                                                          "load",
                                                          "B",
                                                          "wrapper",
                                                          "specs",
                                                          "fuse-ld",
                                                          "ld-path",
                                                          "run",
                                                          "dryrun",
                                                          "Wp,",
                                                          "Wa,",
                                                          "no-integrated-cpp",
                                                          "Xclang",
                                                          "Xassembler",
                                                          "Xpreprocessor",
                                                          "use-local-env",
                                                          "libdevice-directory",
                                                          "ldir",
                                                          "nvvm-latest-dir",
                                                          "archiver-binary",
                                                          "fembed-dir",
                                                          "mllvm",
                                                          "fopenmp-targets"});

/// Names of options, without dashes, that mean nothing here.
constexpr auto harmless = std::to_array<std::string_view>({"c",
                                                           "compile",
                                                           "S",
                                                           "E",
                                                           "cubin",
                                                           "ptx",
                                                           "fatbin",
                                                           "cuda",
                                                           "lib",
                                                           "link",
                                                           "dlink",
                                                           "shared",
                                                           "static",
                                                           "s",
                                                           "v",
                                                           "verbose",
                                                           "w",
                                                           "g",
                                                           "pg",
                                                           "pipe",
                                                           "p",
                                                           "lineinfo",
                                                           "generate-line-info",
                                                           "m64",
                                                           "m32",
                                                           "M",
                                                           "MM",
                                                           "MD",
                                                           "MMD",
                                                           "MP",
                                                           "MG",
                                                           "generate-dependencies",
                                                           "keep",
                                                           "restrict",
                                                           "pedantic",
                                                           "ansi",
                                                           "rdynamic",
                                                           "pie",
                                                           "no-pie",
                                                           "disable-warnings",
                                                           "res-usage",
                                                           "resource-usage",
                                                           "source-in-ptx",
                                                           "allow-unsupported-compiler",
                                                           "Werror",
                                                           "profile",
                                                           "dw",
                                                           "device-w",
                                                           "forward-unknown-to-host-compiler",
                                                           "forward-unknown-to-host-linker",
                                                           "forward-unknown-opts",
                                                           "extensible-whole-program",
                                                           "ewp",
                                                           "dopt",
                                                           "nostdinc++",
                                                           "display-error-number",
                                                           "no-exceptions",
                                                           "no-display-error-number",
                                                           "nodlink",
                                                           "cudart=static",
                                                           "time",
                                                           "save-temps",
                                                           "use-fast-math",
                                                           "dlto",
                                                           "lto",
                                                           "cuda-device-only",
                                                           "cuda-host-only",
                                                           "nocudalib",
                                                           "nocudainc",
                                                           "split-compile-extended",
                                                           "fdevice-time-trace",
                                                           "fgpu-rdc"});

/// Beginnings of options, without dashes, that mean nothing here: warnings, optimisation, code
/// generation of the host.
constexpr auto harmlessBegins = std::to_array<std::string_view>(
    {"W", "O", "g", "f", "m", "diag-", "machine=", "optimize", "ftz",
     "MF=", "threads=", "gpu-debug=", "std=", "Ofc", "fmad", "prec-"});

bool isArithmetic(std::string_view bare) {
    constexpr auto names =
        std::to_array<std::string_view>({"fmad=", "ftz=", "prec-div=", "prec-sqrt="});
    const auto value = bare.substr(std::min(bare.find('=') + 1, bare.size()));
    return beginsWithAny(bare, names) && (value == "true" || value == "false");
}

} // namespace

std::optional<std::string> reasonAgainst(std::string_view flag) {
    const std::string_view bare = withoutDashes(flag);
    const bool isBinFolder = flag.starts_with("-B") && !flag.starts_with("--");
    const bool namesProgram = std::ranges::any_of(running, [&](std::string_view begin) {
        return begin == "B" ? isBinFolder : bare.starts_with(begin);
    });
    if (namesProgram)
        return "it could make a compiler run a program or a plug-in";
    const bool isKnown =
        std::ranges::find(harmless, bare) != harmless.end() ||
        (beginsWithAny(bare, harmlessBegins) && bare.find('/') == std::string_view::npos) ||
        bare.starts_with("Wl,") || bare.find("-prefix-map=") != std::string_view::npos;
    if (isKnown)
        return std::nullopt;
    return "it is not known to be harmless";
}

std::optional<std::string> codeOption(std::string_view flag) {
    const std::string_view bare = withoutDashes(flag);
    if (bare == "G" || bare == "device-debug")
        return "--device-debug";
    if (bare == "extra-device-vectorization" || isArithmetic(bare))
        return "--" + std::string(bare);
    return std::nullopt;
}

bool isPtxasOption(std::string_view part) {
    constexpr auto names = std::to_array<std::string_view>(
        {"O", "opt-level", "dlcm", "dscm", "def-load-cache", "def-store-cache", "fmad",
         "allow-expensive-optimizations", "disable-optimizer-constants", "register-usage-level",
         "maxrregcount", "return-at-end", "preserve-relocs"});
    const std::string_view bare = withoutDashes(part);
    const auto equals = std::min(bare.find('='), bare.size());
    auto name = bare.substr(0, equals);
    auto value = bare.substr(std::min(equals + 1, bare.size()));
    if (name.size() == 2 && name.front() == 'O' && isDigit(name.back())) {
        value = name.substr(1);
        name = "O";
    }
    return part.starts_with('-') && std::ranges::find(names, name) != names.end() &&
           std::ranges::all_of(value, isLetterOrDigit);
}

bool isPtxasMessageOption(std::string_view part) {
    const std::string_view bare = withoutDashes(part);
    return bare.empty() || bare == "v" || bare == "verbose" || bare == "w" ||
           bare.starts_with("warn") || bare.starts_with("disable-warn") ||
           bare.starts_with("suppress-") || bare == "Werror";
}

bool isArchitectureName(std::string_view name) {
    const auto underscore = name.find('_');
    if (underscore == std::string_view::npos)
        return false;
    std::string_view number = name.substr(underscore + 1);
    if (!number.empty() && !isDigit(number.back()) && isLetterOrDigit(number.back()))
        number.remove_suffix(1);
    return !number.empty() && number.size() <= 4 && std::ranges::all_of(number, isDigit);
}

bool isSafeDefinition(std::string_view definition) {
    return !definition.empty() && std::ranges::none_of(definition, [](char c) {
        return c == '$' || c == '`' || c == '\\' || (c >= '\0' && c < ' ' && c != '\t') ||
               c == '\x7f';
    });
}

bool isSafePath(std::string_view path) {
    return isSafeDefinition(path) && path.find('"') == std::string_view::npos;
}

} // namespace kernelskill::analysis
