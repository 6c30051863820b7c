// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The views in the part of the page that is loaded later.
export {FlameView} from "./Flame";
export {Help} from "./Help";
export {IncidentsView} from "./Incidents";
export {LocksView} from "./Locks";
export {LogView} from "./Log";
export {MonitorsView} from "./Monitors";
export {PathView} from "./Path";
export {RequestsView} from "./Requests";
export {SessionsView} from "./Sessions";
export {Welcome} from "./Welcome";
