// Package deploy tests what is deployed beside the program: alerts, dashboard, service and configuration.
package deploy
