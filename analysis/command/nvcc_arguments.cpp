#include "analysis/command/compile_command.h"
#include "analysis/command/flag_rules.h"
#include "analysis/command/shell_words.h"
#include "analysis/source/files.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace kernelskill::analysis {

namespace {

namespace fs = std::filesystem;

enum class Option : std::uint8_t {
    Ignored, ///< Takes a value that has no effect here.
    Refused, ///< Takes a value, and could make a compiler run a program.
    Define,
    Undefine,
    Include,
    SystemInclude,
    ForcedInclude,
    Standard,
    Architecture,
    Generate,
    HostCompiler,
    Ptxas,
    Registers,
    RelocatableCode,
    OptionsFile,
};

struct ValueOption {
    std::string_view name;
    Option option;
    bool joined = false; ///< The value may follow without a space or '=', e.g. -Idir.
};

/// Options that take a value, either as `-name value` or as `-name=value`.
constexpr auto valueOptions = std::to_array<ValueOption>({
    {"-D", Option::Define, true},
    {"--define-macro", Option::Define},
    {"-U", Option::Undefine, true},
    {"--undefine-macro", Option::Undefine},
    {"-I", Option::Include, true},
    {"--include-path", Option::Include},
    {"-iquote", Option::Include},
    {"-isystem", Option::SystemInclude, true},
    {"--system-include", Option::SystemInclude},
    {"-idirafter", Option::SystemInclude},
    {"-include", Option::ForcedInclude},
    {"--pre-include", Option::ForcedInclude},
    {"-std", Option::Standard},
    {"--std", Option::Standard},
    {"-arch", Option::Architecture},
    {"--gpu-architecture", Option::Architecture},
    {"--gpu-arch", Option::Architecture},
    {"--cuda-gpu-arch", Option::Architecture},
    {"--offload-arch", Option::Architecture},
    {"-code", Option::Architecture},
    {"--gpu-code", Option::Architecture},
    {"-gencode", Option::Generate},
    {"--generate-code", Option::Generate},
    {"-Xcompiler", Option::HostCompiler},
    {"--compiler-options", Option::HostCompiler},
    {"-rdc", Option::RelocatableCode},
    {"--relocatable-device-code", Option::RelocatableCode},
    {"-optf", Option::OptionsFile},
    {"--options-file", Option::OptionsFile},
    {"-ccbin", Option::Refused},
    {"--compiler-bindir", Option::Refused},
    {"-wrapper", Option::Refused},
    {"-specs", Option::Refused},
    {"--specs", Option::Refused},
    {"-fplugin", Option::Refused},
    {"-B", Option::Refused},
    {"-load", Option::Refused},
    {"-Xassembler", Option::Refused},
    {"-Xpreprocessor", Option::Refused},
    {"-run-args", Option::Refused},
    {"--run-args", Option::Refused},
    {"-ldir", Option::Refused},
    {"--libdevice-directory", Option::Refused},
    {"-Xptxas", Option::Ptxas},
    {"--ptxas-options", Option::Ptxas},
    {"-Xlinker", Option::Ignored},
    {"--linker-options", Option::Ignored},
    {"-Xcudafe", Option::Ignored},
    {"-Xnvlink", Option::Ignored},
    {"--nvlink-options", Option::Ignored},
    {"-Xarchive", Option::Ignored},
    {"--archive-options", Option::Ignored},
    {"-Xfatbin", Option::Ignored},
    {"--fatbin-options", Option::Ignored},
    {"-Xcuda-ptxas", Option::Ptxas},
    {"-Xcuda-fatbinary", Option::Ignored},
    {"-o", Option::Ignored, true},
    {"--output-file", Option::Ignored},
    {"-odir", Option::Ignored},
    {"--output-directory", Option::Ignored},
    {"-MF", Option::Ignored},
    {"--dependency-output", Option::Ignored},
    {"-MT", Option::Ignored},
    {"-MQ", Option::Ignored},
    {"--dependency-target-name", Option::Ignored},
    {"-maxrregcount", Option::Registers},
    {"--maxrregcount", Option::Registers},
    {"-t", Option::Ignored},
    {"--threads", Option::Ignored},
    {"-split-compile", Option::Ignored},
    {"--split-compile", Option::Ignored},
    {"-x", Option::Ignored, true},
    {"--x", Option::Ignored},
    {"-L", Option::Ignored, true},
    {"--library-path", Option::Ignored},
    {"-l", Option::Ignored, true},
    {"--library", Option::Ignored},
    {"-cudart", Option::Ignored},
    {"--cudart", Option::Ignored},
    {"-cudadevrt", Option::Ignored},
    {"--cudadevrt", Option::Ignored},
    {"-diag-suppress", Option::Ignored},
    {"--diag-suppress", Option::Ignored},
    {"-diag-error", Option::Ignored},
    {"--diag-error", Option::Ignored},
    {"-diag-warn", Option::Ignored},
    {"--diag-warn", Option::Ignored},
    {"-default-stream", Option::Ignored},
    {"--default-stream", Option::Ignored},
    {"-keep-dir", Option::Ignored},
    {"--keep-dir", Option::Ignored},
    {"-target-dir", Option::Ignored},
    {"--cuda-path", Option::Ignored},
    {"-resource-dir", Option::Ignored},
    {"-Xclang", Option::Refused},
    {"-mllvm", Option::Refused},
});

constexpr std::string_view shellReason =
    "it holds a character that nvcc would hand to a shell, or a line end";

/// The maximum nesting of option files.
constexpr int maximumOptionsFileDepth = 8;

bool isSource(std::string_view argument) {
    constexpr std::array<std::string_view, 10> extensions = {".cu",  ".cuh", ".cpp", ".cc", ".cxx",
                                                             ".c++", ".c",   ".o",   ".a",  ".so"};
    return std::ranges::any_of(extensions,
                               [&](std::string_view end) { return argument.ends_with(end); });
}

/// Host compiler flags that affect parsing and that clang spells the same.
bool mattersToParsing(std::string_view flag) {
    constexpr std::array<std::string_view, 12> exact = {
        "-fopenmp",      "-fno-exceptions", "-fexceptions",    "-fno-rtti",
        "-frtti",        "-fsigned-char",   "-funsigned-char", "-fms-extensions",
        "-fshort-enums", "-fchar8_t",       "-fno-char8_t",    "-pthread"};
    if (std::ranges::find(exact, flag) != exact.end())
        return true;
    constexpr std::array<std::string_view, 9> machine = {
        "-march=", "-mavx", "-msse", "-mssse", "-mfma", "-mf16c", "-mbmi", "-mpopcnt", "-maes"};
    return std::ranges::any_of(machine,
                               [&](std::string_view begin) { return flag.starts_with(begin); });
}

class Translator {
public:
    explicit Translator(const fs::path& directory) { command_.directory = directory; }

    void translate(const std::vector<std::string>& arguments, int depth) {
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            const std::string& argument = arguments[i];
            if (argument.size() > 1 && argument.front() == '@') {
                readOptionsFile(argument.substr(1), depth);
                continue;
            }
            if (argument.size() < 2 || argument.front() != '-') {
                if (!isSource(argument) && !argument.empty())
                    command_.ignored.push_back(argument);
                continue;
            }
            if (!takeValueOption(arguments, i, depth))
                takeSwitch(argument);
        }
    }

    CompileCommand finish() { return std::move(command_); }

private:
    bool takeValueOption(const std::vector<std::string>& arguments, std::size_t& i, int depth) {
        const std::string& argument = arguments[i];
        for (const ValueOption& option : valueOptions) {
            if (!argument.starts_with(option.name))
                continue;
            const std::string rest = argument.substr(option.name.size());
            if (rest.empty()) {
                if (i + 1 < arguments.size())
                    apply(option, arguments[++i], depth);
                return true;
            }
            if (rest.front() == '=' && option.name != "-D" && option.name != "-I") {
                apply(option, rest.substr(1), depth);
                return true;
            }
            if (option.joined && isJoined(option, rest)) {
                apply(option, rest.front() == '=' ? rest.substr(1) : rest, depth);
                return true;
            }
        }
        return false;
    }

    /// "-ldl" is a library, but "-lineinfo" is not; "-odir" is an option of its own.
    static bool isJoined(const ValueOption& option, const std::string& rest) {
        if (option.name == "-l")
            return rest != "ineinfo" && rest != "ib" && rest != "to" && rest != "ink";
        if (option.name == "-o")
            return !rest.starts_with("dir") && !rest.starts_with("ptf") &&
                   !rest.starts_with("bjdir");
        if (option.name == "-x")
            return rest == "cu" || rest == "c++" || rest == "cuda";
        return true;
    }

    void apply(const ValueOption& option, const std::string& value, int depth) {
        switch (option.option) {
        case Option::Define:
            for (std::string& definition : lists(option, value))
                define(option.name, std::move(definition));
            break;
        case Option::Undefine:
            if (isSafeDefinition(value))
                command_.undefinitions.push_back(value);
            else
                refuse(std::string(option.name) + " " + value, shellReason);
            break;
        case Option::Include:
            addPaths(option.name, value, command_.includeDirs);
            break;
        case Option::SystemInclude:
            addPaths(option.name, value, command_.systemIncludeDirs);
            break;
        case Option::ForcedInclude:
            for (const std::string& path : splitOptionList(value)) {
                if (isSafePath(path))
                    command_.forcedIncludes.push_back(path);
                else
                    refuse(std::string(option.name) + " " + path, shellReason);
            }
            break;
        case Option::Standard:
            command_.standard = value;
            break;
        case Option::Architecture:
            for (const std::string& architecture : splitOptionList(value))
                addArchitecture(architecture);
            break;
        case Option::Generate:
            generate(value);
            break;
        case Option::HostCompiler:
            hostOptions(splitOptionList(value));
            break;
        case Option::Ptxas:
            ptxasOptions(option.name, value);
            break;
        case Option::Registers:
            registers(option.name, value);
            break;
        case Option::Refused:
            refuse(std::string(option.name) + " " + value, reasonAgainst(option.name).value_or(""));
            break;
        case Option::RelocatableCode:
            command_.relocatableDeviceCode = value == "true";
            break;
        case Option::OptionsFile:
            for (const std::string& path : splitOptionList(value))
                readOptionsFile(path, depth);
            break;
        case Option::Ignored:
            if (option.name != "-o" && option.name != "-x")
                command_.ignored.push_back(std::string(option.name) + " " + value);
            break;
        }
    }

    /// A definition may contain commas: -DPAIR=1,2 on a host compiler's line, f(a,b) anywhere.
    static std::vector<std::string> lists(const ValueOption& option, const std::string& value) {
        if (option.name == "-D")
            return {value};
        return splitOptionList(value);
    }

    void takeSwitch(const std::string& argument) {
        const std::string_view name = std::string_view(argument).substr(argument[1] == '-' ? 2 : 1);
        if (name == "dc" || name == "device-c" || name == "fgpu-rdc")
            command_.relocatableDeviceCode = true;
        else if (name == "use_fast_math" || name == "ffast-math")
            command_.fastMath = true;
        else if (name == "expt-extended-lambda" || name == "extended-lambda")
            command_.extendedLambda = true;
        else if (name == "expt-relaxed-constexpr")
            command_.relaxedConstexpr = true;
        else if (mattersToParsing(argument))
            addHostFlag(argument);
        else
            leaveOut(argument, argument);
    }

    /// Keeps what changes machine code; mentions what nobody knows to be harmless.
    void leaveOut(const std::string& flag, const std::string& spelling) {
        if (auto option = codeOption(flag))
            command_.codeOptions.push_back(std::move(*option));
        else if (const auto reason = reasonAgainst(flag))
            return refuse(spelling, *reason);
        command_.ignored.push_back(spelling);
    }

    void refuse(const std::string& flag, std::string_view reason) {
        std::string note = "'" + flag + "' is left out: " + std::string(reason);
        if (std::ranges::find(command_.notes, note) == command_.notes.end())
            command_.notes.push_back(std::move(note));
    }

    void define(std::string_view option, std::string definition) {
        if (isSafeDefinition(definition))
            command_.definitions.push_back(std::move(definition));
        else
            refuse(std::string(option) + " " + definition, shellReason);
    }

    void addPaths(std::string_view option, const std::string& list,
                  std::vector<std::string>& folders) {
        for (const std::string& path : splitOptionList(list)) {
            if (isSafePath(absolute(path)))
                folders.push_back(absolute(path));
            else
                refuse(std::string(option) + " " + path, shellReason);
        }
    }

    void ptxasOptions(std::string_view option, const std::string& list) {
        for (const std::string& words : splitOptionList(list)) {
            for (const std::string& part : splitShellWords(words)) {
                if (isPtxasOption(part))
                    command_.codeOptions.push_back("--ptxas-options=" + part);
                else if (!isPtxasMessageOption(part))
                    refuse(std::string(option) + " " + part, "it is not known to be harmless");
                else
                    command_.ignored.push_back(std::string(option) + " " + part);
            }
        }
    }

    void registers(std::string_view option, const std::string& count) {
        if (!count.empty() && count.find_first_not_of("0123456789") == std::string::npos)
            command_.codeOptions.push_back("--maxrregcount=" + count);
        else
            command_.ignored.push_back(std::string(option));
    }

    void hostOptions(const std::vector<std::string>& flags) {
        for (const std::string& list : flags) {
            for (const std::string& flag : splitShellWords(list)) {
                if (flag.starts_with("-D") && flag.size() > 2)
                    define("-D", flag.substr(2));
                else if (flag.starts_with("-I") && flag.size() > 2)
                    addPaths("-I", flag.substr(2), command_.includeDirs);
                else if (mattersToParsing(flag))
                    addHostFlag(flag);
                else if (const auto reason = reasonAgainst(flag))
                    refuse("-Xcompiler " + flag, *reason);
                else
                    command_.ignored.push_back("-Xcompiler " + flag);
            }
        }
    }

    void addHostFlag(const std::string& flag) {
        if (std::ranges::find(command_.hostFlags, flag) == command_.hostFlags.end())
            command_.hostFlags.push_back(flag);
    }

    void generate(const std::string& value) {
        // For arch=compute_80,code=[sm_80,compute_80] and code="sm_80,sm_86". Real architectures
        // are preferred.
        std::string list = value;
        std::erase_if(list, [](char c) { return c == '[' || c == ']' || c == '"' || c == '\''; });
        std::optional<std::string> virtualArchitecture;
        bool anyReal = false;
        for (std::string part : splitOptionList(list)) {
            if (part.starts_with("arch=")) {
                virtualArchitecture = part.substr(5);
                continue;
            }
            if (part.starts_with("code="))
                part = part.substr(5);
            if (part.starts_with("sm_") || part.starts_with("lto_")) {
                addArchitecture(part);
                anyReal = true;
            }
        }
        if (!anyReal && virtualArchitecture)
            addArchitecture(*virtualArchitecture);
    }

    /// sm_90a, compute_80 and lto_86 name an architecture; native, all and all-major do not.
    void addArchitecture(const std::string& name) {
        if (!isArchitectureName(name)) {
            command_.ignored.push_back("-arch=" + name);
            return;
        }
        std::string architecture = "sm_" + name.substr(name.find('_') + 1);
        if (std::ranges::find(command_.architectures, architecture) == command_.architectures.end())
            command_.architectures.push_back(std::move(architecture));
    }

    void readOptionsFile(const std::string& name, int depth) {
        const auto text = readFile(absolute(name));
        if (!text || depth >= maximumOptionsFileDepth) {
            command_.ignored.push_back("--options-file " + name);
            return;
        }
        translate(splitShellWords(*text), depth + 1);
    }

    [[nodiscard]] std::string absolute(const std::string& path) const {
        const fs::path given(path);
        return (given.is_absolute() ? given : command_.directory / given)
            .lexically_normal()
            .string();
    }

    CompileCommand command_;
};

} // namespace

CompileCommand translateArguments(const std::vector<std::string>& arguments,
                                  const fs::path& directory) {
    Translator translator(directory);
    translator.translate(arguments, 0);
    return translator.finish();
}

} // namespace kernelskill::analysis
