/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's driver interface: the table of its functions for cuGetProcAddress, which finds only these. */
#include "runtime/cuda/cu_driver_priv.h"

#include <string.h>

#define FUNCTIONS(X) \
    X(cuArray3DCreate) \
    X(cuArray3DGetDescriptor) \
    X(cuArrayCreate) \
    X(cuArrayDestroy) \
    X(cuArrayGetDescriptor) \
    X(cuCtxAttach) \
    X(cuCtxCreate) \
    X(cuCtxDestroy) \
    X(cuCtxDetach) \
    X(cuCtxDisablePeerAccess) \
    X(cuCtxEnablePeerAccess) \
    X(cuCtxGetApiVersion) \
    X(cuCtxGetCacheConfig) \
    X(cuCtxGetCurrent) \
    X(cuCtxGetDevice) \
    X(cuCtxGetFlags) \
    X(cuCtxGetId) \
    X(cuCtxGetLimit) \
    X(cuCtxGetSharedMemConfig) \
    X(cuCtxGetStreamPriorityRange) \
    X(cuCtxPopCurrent) \
    X(cuCtxPushCurrent) \
    X(cuCtxSetCacheConfig) \
    X(cuCtxSetCurrent) \
    X(cuCtxSetFlags) \
    X(cuCtxSetLimit) \
    X(cuCtxSetSharedMemConfig) \
    X(cuCtxSynchronize) \
    X(cuDeviceCanAccessPeer) \
    X(cuDeviceComputeCapability) \
    X(cuDeviceGet) \
    X(cuDeviceGetAttribute) \
    X(cuDeviceGetByPCIBusId) \
    X(cuDeviceGetCount) \
    X(cuDeviceGetDefaultMemPool) \
    X(cuDeviceGetGraphMemAttribute) \
    X(cuDeviceGetLuid) \
    X(cuDeviceGetMemPool) \
    X(cuDeviceGetName) \
    X(cuDeviceGetP2PAttribute) \
    X(cuDeviceGetPCIBusId) \
    X(cuDeviceGetTexture1DLinearMaxWidth) \
    X(cuDeviceGetUuid) \
    X(cuDeviceGraphMemTrim) \
    X(cuDevicePrimaryCtxGetState) \
    X(cuDevicePrimaryCtxRelease) \
    X(cuDevicePrimaryCtxReset) \
    X(cuDevicePrimaryCtxRetain) \
    X(cuDevicePrimaryCtxSetFlags) \
    X(cuDeviceSetGraphMemAttribute) \
    X(cuDeviceSetMemPool) \
    X(cuDeviceTotalMem) \
    X(cuDriverGetVersion) \
    X(cuEventCreate) \
    X(cuEventDestroy) \
    X(cuEventElapsedTime) \
    X(cuEventQuery) \
    X(cuEventRecord) \
    X(cuEventRecordWithFlags) \
    X(cuEventSynchronize) \
    X(cuFuncGetAttribute) \
    X(cuFuncGetModule) \
    X(cuFuncGetName) \
    X(cuFuncGetParamInfo) \
    X(cuFuncIsLoaded) \
    X(cuFuncLoad) \
    X(cuFuncSetAttribute) \
    X(cuFuncSetBlockShape) \
    X(cuFuncSetCacheConfig) \
    X(cuFuncSetSharedMemConfig) \
    X(cuFuncSetSharedSize) \
    X(cuGetErrorName) \
    X(cuGetErrorString) \
    X(cuGetExportTable) \
    X(cuGetProcAddress) \
    X(cuGraphAddBatchMemOpNode) \
    X(cuGraphAddChildGraphNode) \
    X(cuGraphAddDependencies) \
    X(cuGraphAddEmptyNode) \
    X(cuGraphAddEventRecordNode) \
    X(cuGraphAddEventWaitNode) \
    X(cuGraphAddHostNode) \
    X(cuGraphAddKernelNode) \
    X(cuGraphAddMemAllocNode) \
    X(cuGraphAddMemFreeNode) \
    X(cuGraphAddMemcpyNode) \
    X(cuGraphAddMemsetNode) \
    X(cuGraphAddNode) \
    X(cuGraphBatchMemOpNodeGetParams) \
    X(cuGraphBatchMemOpNodeSetParams) \
    X(cuGraphChildGraphNodeGetGraph) \
    X(cuGraphClone) \
    X(cuGraphConditionalHandleCreate) \
    X(cuGraphCreate) \
    X(cuGraphDebugDotPrint) \
    X(cuGraphDestroy) \
    X(cuGraphDestroyNode) \
    X(cuGraphEventRecordNodeGetEvent) \
    X(cuGraphEventRecordNodeSetEvent) \
    X(cuGraphEventWaitNodeGetEvent) \
    X(cuGraphEventWaitNodeSetEvent) \
    X(cuGraphExecBatchMemOpNodeSetParams) \
    X(cuGraphExecChildGraphNodeSetParams) \
    X(cuGraphExecDestroy) \
    X(cuGraphExecEventRecordNodeSetEvent) \
    X(cuGraphExecEventWaitNodeSetEvent) \
    X(cuGraphExecGetFlags) \
    X(cuGraphExecHostNodeSetParams) \
    X(cuGraphExecKernelNodeSetParams) \
    X(cuGraphExecMemcpyNodeSetParams) \
    X(cuGraphExecMemsetNodeSetParams) \
    X(cuGraphExecNodeSetParams) \
    X(cuGraphExecUpdate) \
    X(cuGraphGetEdges) \
    X(cuGraphGetNodes) \
    X(cuGraphGetRootNodes) \
    X(cuGraphHostNodeGetParams) \
    X(cuGraphHostNodeSetParams) \
    X(cuGraphInstantiate) \
    X(cuGraphInstantiateWithFlags) \
    X(cuGraphInstantiateWithParams) \
    X(cuGraphKernelNodeCopyAttributes) \
    X(cuGraphKernelNodeGetAttribute) \
    X(cuGraphKernelNodeGetParams) \
    X(cuGraphKernelNodeSetAttribute) \
    X(cuGraphKernelNodeSetParams) \
    X(cuGraphLaunch) \
    X(cuGraphMemAllocNodeGetParams) \
    X(cuGraphMemFreeNodeGetParams) \
    X(cuGraphMemcpyNodeGetParams) \
    X(cuGraphMemcpyNodeSetParams) \
    X(cuGraphMemsetNodeGetParams) \
    X(cuGraphMemsetNodeSetParams) \
    X(cuGraphNodeFindInClone) \
    X(cuGraphNodeGetDependencies) \
    X(cuGraphNodeGetDependentNodes) \
    X(cuGraphNodeGetEnabled) \
    X(cuGraphNodeGetType) \
    X(cuGraphNodeSetEnabled) \
    X(cuGraphNodeSetParams) \
    X(cuGraphReleaseUserObject) \
    X(cuGraphRemoveDependencies) \
    X(cuGraphRetainUserObject) \
    X(cuGraphUpload) \
    X(cuInit) \
    X(cuIpcCloseMemHandle) \
    X(cuIpcGetEventHandle) \
    X(cuIpcGetMemHandle) \
    X(cuIpcOpenEventHandle) \
    X(cuIpcOpenMemHandle) \
    X(cuKernelGetAttribute) \
    X(cuKernelGetFunction) \
    X(cuKernelGetLibrary) \
    X(cuKernelGetName) \
    X(cuKernelGetParamInfo) \
    X(cuKernelSetAttribute) \
    X(cuKernelSetCacheConfig) \
    X(cuLaunch) \
    X(cuLaunchCooperativeKernel) \
    X(cuLaunchGrid) \
    X(cuLaunchGridAsync) \
    X(cuLaunchHostFunc) \
    X(cuLaunchKernel) \
    X(cuLaunchKernelEx) \
    X(cuLibraryEnumerateKernels) \
    X(cuLibraryGetGlobal) \
    X(cuLibraryGetKernel) \
    X(cuLibraryGetKernelCount) \
    X(cuLibraryGetManaged) \
    X(cuLibraryGetModule) \
    X(cuLibraryGetUnifiedFunction) \
    X(cuLibraryLoadData) \
    X(cuLibraryLoadFromFile) \
    X(cuLibraryUnload) \
    X(cuLinkAddData) \
    X(cuLinkAddFile) \
    X(cuLinkComplete) \
    X(cuLinkCreate) \
    X(cuLinkDestroy) \
    X(cuMemAddressFree) \
    X(cuMemAddressReserve) \
    X(cuMemAdvise) \
    X(cuMemAlloc) \
    X(cuMemAllocAsync) \
    X(cuMemAllocFromPoolAsync) \
    X(cuMemAllocHost) \
    X(cuMemAllocManaged) \
    X(cuMemAllocPitch) \
    X(cuMemCreate) \
    X(cuMemExportToShareableHandle) \
    X(cuMemFree) \
    X(cuMemFreeAsync) \
    X(cuMemFreeHost) \
    X(cuMemGetAccess) \
    X(cuMemGetAddressRange) \
    X(cuMemGetAllocationGranularity) \
    X(cuMemGetAllocationPropertiesFromHandle) \
    X(cuMemGetDefaultMemPool) \
    X(cuMemGetInfo) \
    X(cuMemGetMemPool) \
    X(cuMemHostAlloc) \
    X(cuMemHostGetDevicePointer) \
    X(cuMemHostGetFlags) \
    X(cuMemHostRegister) \
    X(cuMemHostUnregister) \
    X(cuMemImportFromShareableHandle) \
    X(cuMemMap) \
    X(cuMemPoolCreate) \
    X(cuMemPoolDestroy) \
    X(cuMemPoolGetAccess) \
    X(cuMemPoolGetAttribute) \
    X(cuMemPoolSetAccess) \
    X(cuMemPoolSetAttribute) \
    X(cuMemPoolTrimTo) \
    X(cuMemPrefetchAsync) \
    X(cuMemRangeGetAttribute) \
    X(cuMemRangeGetAttributes) \
    X(cuMemRelease) \
    X(cuMemRetainAllocationHandle) \
    X(cuMemSetAccess) \
    X(cuMemSetMemPool) \
    X(cuMemUnmap) \
    X(cuMemcpy) \
    X(cuMemcpy2D) \
    X(cuMemcpy2DAsync) \
    X(cuMemcpy2DUnaligned) \
    X(cuMemcpy3D) \
    X(cuMemcpy3DAsync) \
    X(cuMemcpy3DBatchAsync) \
    X(cuMemcpy3DPeer) \
    X(cuMemcpy3DPeerAsync) \
    X(cuMemcpyAsync) \
    X(cuMemcpyAtoA) \
    X(cuMemcpyAtoD) \
    X(cuMemcpyAtoH) \
    X(cuMemcpyAtoHAsync) \
    X(cuMemcpyBatchAsync) \
    X(cuMemcpyDtoA) \
    X(cuMemcpyDtoD) \
    X(cuMemcpyDtoDAsync) \
    X(cuMemcpyDtoH) \
    X(cuMemcpyDtoHAsync) \
    X(cuMemcpyHtoA) \
    X(cuMemcpyHtoAAsync) \
    X(cuMemcpyHtoD) \
    X(cuMemcpyHtoDAsync) \
    X(cuMemcpyPeer) \
    X(cuMemcpyPeerAsync) \
    X(cuMemsetD16) \
    X(cuMemsetD16Async) \
    X(cuMemsetD2D16) \
    X(cuMemsetD2D16Async) \
    X(cuMemsetD2D32) \
    X(cuMemsetD2D32Async) \
    X(cuMemsetD2D8) \
    X(cuMemsetD2D8Async) \
    X(cuMemsetD32) \
    X(cuMemsetD32Async) \
    X(cuMemsetD8) \
    X(cuMemsetD8Async) \
    X(cuModuleEnumerateFunctions) \
    X(cuModuleGetFunction) \
    X(cuModuleGetFunctionCount) \
    X(cuModuleGetGlobal) \
    X(cuModuleGetLoadingMode) \
    X(cuModuleLoad) \
    X(cuModuleLoadData) \
    X(cuModuleLoadDataEx) \
    X(cuModuleLoadFatBinary) \
    X(cuModuleUnload) \
    X(cuOccupancyAvailableDynamicSMemPerBlock) \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor) \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags) \
    X(cuOccupancyMaxPotentialBlockSize) \
    X(cuOccupancyMaxPotentialBlockSizeWithFlags) \
    X(cuParamSetSize) \
    X(cuParamSetf) \
    X(cuParamSeti) \
    X(cuParamSetv) \
    X(cuPointerGetAttribute) \
    X(cuPointerGetAttributes) \
    X(cuProfilerStart) \
    X(cuProfilerStop) \
    X(cuStreamAddCallback) \
    X(cuStreamAttachMemAsync) \
    X(cuStreamBatchMemOp) \
    X(cuStreamBeginCaptureToGraph) \
    X(cuStreamCopyAttributes) \
    X(cuStreamCreate) \
    X(cuStreamCreateWithPriority) \
    X(cuStreamDestroy) \
    X(cuStreamEndCapture) \
    X(cuStreamGetAttribute) \
    X(cuStreamGetCtx) \
    X(cuStreamGetDevice) \
    X(cuStreamGetFlags) \
    X(cuStreamGetId) \
    X(cuStreamGetPriority) \
    X(cuStreamIsCapturing) \
    X(cuStreamQuery) \
    X(cuStreamSetAttribute) \
    X(cuStreamSynchronize) \
    X(cuStreamUpdateCaptureDependencies) \
    X(cuStreamWaitEvent) \
    X(cuStreamWaitValue32) \
    X(cuStreamWaitValue64) \
    X(cuStreamWriteValue32) \
    X(cuStreamWriteValue64) \
    X(cuSurfObjectCreate) \
    X(cuSurfObjectDestroy) \
    X(cuSurfObjectGetResourceDesc) \
    X(cuTexObjectCreate) \
    X(cuTexObjectDestroy) \
    X(cuTexObjectGetResourceDesc) \
    X(cuTexObjectGetResourceViewDesc) \
    X(cuTexObjectGetTextureDesc) \
    X(cuThreadExchangeStreamCaptureMode) \
    X(cuUserObjectCreate) \
    X(cuUserObjectRelease) \
    X(cuUserObjectRetain)

/* Functions of which later versions have other parameters: name, function, first version of CUDA that has this
 * function. */
#define VERSIONS(X) \
    X(cuMemAdvise, cuMemAdvise_v2, 12020) \
    X(cuMemPrefetchAsync, cuMemPrefetchAsync_v2, 12020) \
    X(cuMemcpyBatchAsync, cuMemcpyBatchAsync_v2, 13000) \
    X(cuMemcpy3DBatchAsync, cuMemcpy3DBatchAsync_v2, 13000) \
    X(cuGraphAddDependencies, cuGraphAddDependencies_v2, 12030) \
    X(cuGraphAddKernelNode, cuGraphAddKernelNode_v2, 12000) \
    X(cuGraphAddNode, cuGraphAddNode_v2, 12030) \
    X(cuGraphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams_v2, 12000) \
    X(cuGraphExecUpdate, cuGraphExecUpdate_v2, 12000) \
    X(cuGraphGetEdges, cuGraphGetEdges_v2, 12030) \
    X(cuGraphInstantiate, cuGraphInstantiateWithFlags, 12000) \
    X(cuGraphKernelNodeGetParams, cuGraphKernelNodeGetParams_v2, 12000) \
    X(cuGraphKernelNodeSetParams, cuGraphKernelNodeSetParams_v2, 12000) \
    X(cuGraphNodeGetDependencies, cuGraphNodeGetDependencies_v2, 12030) \
    X(cuGraphNodeGetDependentNodes, cuGraphNodeGetDependentNodes_v2, 12030) \
    X(cuGraphRemoveDependencies, cuGraphRemoveDependencies_v2, 12030) \
    X(cuStreamBeginCapture, cuStreamBeginCapture_v2, 10010) \
    X(cuStreamGetCaptureInfo, cuStreamGetCaptureInfo_v3, 12030) \
    X(cuStreamGetCaptureInfo, cuStreamGetCaptureInfo_v2, 11030) \
    X(cuStreamUpdateCaptureDependencies, cuStreamUpdateCaptureDependencies_v2, 12030)

#define DECLARE(name) extern char name##_ __asm__(#name);
#define DECLARE_VERSION(name, function, since) extern char function##_version_ __asm__(#function);
FUNCTIONS(DECLARE)
VERSIONS(DECLARE_VERSION)

static const struct {
    const char *name;
    void *function;
    int since;
} rows[] = {
#define ROW(name) {#name, &name##_, 0},
#define VERSION_ROW(name, function, since) {#name, &function##_version_, since},
    VERSIONS(VERSION_ROW) FUNCTIONS(ROW)
};

void *cu_driver_symbol(const char *name, int version)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (version >= rows[i].since && strcmp(rows[i].name, name) == 0)
            return rows[i].function;
    return NULL;
}
