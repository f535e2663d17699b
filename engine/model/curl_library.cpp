#include "engine/model/curl_library.h"

#include <dlfcn.h>
#include <string>

namespace kernelskill::engine {
namespace {

constexpr const char* remedy = "install libcurl 7.85 or later, libcurl4 in Debian";

/// Sets `function`. Returns whether the library has it.
template <typename Function>
bool find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    return function != nullptr;
}

} // namespace

Result<CurlLibrary> CurlLibrary::load() {
    void* library = nullptr;
    for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"}) {
        library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (library != nullptr)
            break;
    }
    if (library == nullptr)
        return std::unexpected(Error{ErrorKind::Missing,
                                     "language models are asked by libcurl, which is not here",
                                     "libcurl.so.4", remedy});
    CurlLibrary curl;
    const bool isWhole =
        find(library, "curl_easy_init", curl.easyInit) &&
        find(library, "curl_easy_cleanup", curl.easyCleanup) &&
        find(library, "curl_easy_setopt", curl.easySetOption) &&
        find(library, "curl_easy_getinfo", curl.easyGetInfo) &&
        find(library, "curl_easy_header", curl.easyHeader) &&
        find(library, "curl_easy_strerror", curl.easyErrorText) &&
        find(library, "curl_multi_init", curl.multiInit) &&
        find(library, "curl_multi_cleanup", curl.multiCleanup) &&
        find(library, "curl_multi_add_handle", curl.multiAdd) &&
        find(library, "curl_multi_remove_handle", curl.multiRemove) &&
        find(library, "curl_multi_perform", curl.multiPerform) &&
        find(library, "curl_multi_poll", curl.multiPoll) &&
        find(library, "curl_multi_wakeup", curl.multiWakeup) &&
        find(library, "curl_multi_info_read", curl.multiInfoRead) &&
        find(library, "curl_slist_append", curl.listAppend) &&
        find(library, "curl_slist_free_all", curl.listFree) &&
        find(library, "curl_url", curl.url) && find(library, "curl_url_cleanup", curl.urlCleanup) &&
        find(library, "curl_url_set", curl.urlSet) && find(library, "curl_url_get", curl.urlGet) &&
        find(library, "curl_free", curl.free);
    decltype(&curl_version_info) versionInfo = nullptr;
    constexpr unsigned oldest = 0x075500; // CURLOPT_PROTOCOLS_STR
    const bool isNewEnough = isWhole && find(library, "curl_version_info", versionInfo) &&
                             versionInfo(CURLVERSION_NOW)->version_num >= oldest;
    ::dlclose(library); // It stays loaded, by RTLD_NODELETE.
    if (!isNewEnough)
        return std::unexpected(
            Error{ErrorKind::Missing, "this libcurl is too old", "libcurl.so.4", remedy});
    return curl;
}

} // namespace kernelskill::engine
